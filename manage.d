manage.o: apps/manage.c apps/manage.h apps/state.h apps/access.h \
  session/base/co.h session/base/loop.h session/base/err.h \
  session/base/limits.h apps/apps.h session/base/action.h \
  session/base/json.h session/base/faults.h session/base/shape.h \
  session/base/xconn.h apps/catalogue.h apps/environment.h apps/owner.h \
  apps/pipe.h apps/spawner.h apps/init/proto.h session/base/wm.h \
  apps/windows.h session/base/space.h apps/pieces.h session/base/util.h

apps/manage.h:

apps/state.h:

apps/access.h:

session/base/co.h:

session/base/loop.h:

session/base/err.h:

session/base/limits.h:

apps/apps.h:

session/base/action.h:

session/base/json.h:

session/base/faults.h:

session/base/shape.h:

session/base/xconn.h:

apps/catalogue.h:

apps/environment.h:

apps/owner.h:

apps/pipe.h:

apps/spawner.h:

apps/init/proto.h:

session/base/wm.h:

apps/windows.h:

session/base/space.h:

apps/pieces.h:

session/base/util.h:
