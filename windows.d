windows.o: apps/windows.c apps/windows.h session/base/action.h \
  session/base/json.h session/base/err.h session/base/faults.h \
  session/base/shape.h session/base/limits.h session/base/space.h \
  session/base/xconn.h session/base/co.h session/base/loop.h apps/text.h \
  session/base/util.h

apps/windows.h:

session/base/action.h:

session/base/json.h:

session/base/err.h:

session/base/faults.h:

session/base/shape.h:

session/base/limits.h:

session/base/space.h:

session/base/xconn.h:

session/base/co.h:

session/base/loop.h:

apps/text.h:

session/base/util.h:
