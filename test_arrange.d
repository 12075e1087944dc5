test_arrange.o: tests/x/test_arrange.c session/base/limits.h \
  session/base/util.h tests/x/desk.h apps/state.h apps/access.h \
  session/base/co.h session/base/loop.h session/base/err.h apps/apps.h \
  session/base/action.h session/base/json.h session/base/faults.h \
  session/base/shape.h session/base/xconn.h apps/catalogue.h \
  apps/environment.h apps/owner.h apps/pipe.h apps/spawner.h \
  apps/init/proto.h session/base/wm.h tests/unit/jail.h \
  session/base/ipc.h tests/x/xserver.h

session/base/limits.h:

session/base/util.h:

tests/x/desk.h:

apps/state.h:

apps/access.h:

session/base/co.h:

session/base/loop.h:

session/base/err.h:

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

tests/unit/jail.h:

session/base/ipc.h:

tests/x/xserver.h:
