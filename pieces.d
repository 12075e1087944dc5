pieces.o: apps/pieces.c apps/pieces.h session/base/limits.h \
  session/base/space.h session/base/json.h session/base/err.h \
  session/base/faults.h

apps/pieces.h:

session/base/limits.h:

session/base/space.h:

session/base/json.h:

session/base/err.h:

session/base/faults.h:
