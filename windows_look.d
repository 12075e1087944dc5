windows_look.o: apps/windows_look.c apps/pieces.h session/base/limits.h \
  session/base/space.h session/base/json.h session/base/err.h \
  session/base/faults.h apps/windows.h session/base/action.h \
  session/base/shape.h session/base/xconn.h session/base/co.h \
  session/base/loop.h session/base/util.h

apps/pieces.h:

session/base/limits.h:

session/base/space.h:

session/base/json.h:

session/base/err.h:

session/base/faults.h:

apps/windows.h:

session/base/action.h:

session/base/shape.h:

session/base/xconn.h:

session/base/co.h:

session/base/loop.h:

session/base/util.h:
