apps.o: apps/apps.c apps/apps.h session/base/action.h session/base/json.h \
  session/base/err.h session/base/faults.h session/base/shape.h \
  session/base/xconn.h session/base/co.h session/base/loop.h \
  apps/state.h apps/access.h session/base/limits.h apps/catalogue.h \
  apps/environment.h apps/owner.h apps/pipe.h apps/spawner.h \
  apps/init/proto.h session/base/wm.h session/base/log.h \
  session/base/util.h

apps/apps.h:

session/base/action.h:

session/base/json.h:

session/base/err.h:

session/base/faults.h:

session/base/shape.h:

session/base/xconn.h:

session/base/co.h:

session/base/loop.h:

apps/state.h:

apps/access.h:

session/base/limits.h:

apps/catalogue.h:

apps/environment.h:

apps/owner.h:

apps/pipe.h:

apps/spawner.h:

apps/init/proto.h:

session/base/wm.h:

session/base/log.h:

session/base/util.h:
