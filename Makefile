# Glovebox. `make` builds without root; `sudo make run` and `sudo make check` set everything up first.
# `make install` puts what was built under DESTDIR/PREFIX, `make dist` makes build/glovebox-VERSION.tar.gz.
# MODE = release | debug | asan | ubsan | fuzz (which needs CC=clang) | layers (whose sandbox can be weakened: for check-layers alone)

MODE   ?= release
STATE  ?= /var/lib/glovebox
PREFIX ?= /usr/local
B      := $(if $(filter release,$(MODE)),build,build-$(MODE))
ifeq ($(origin CC),default)
CC     := gcc
endif

VERSION := $(shell sed -n 's/^\#\# \[\([0-9][^]]*\)\].*/\1/p' CHANGELOG.md | head -n 1)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes \
        -Wformat=2 -Wformat-nonliteral -Wmissing-format-attribute -Wvla -Wcast-qual -Wcast-align -Wpointer-arith -Wundef \
        -Wwrite-strings -Wswitch-enum -Wimplicit-fallthrough -Wnull-dereference -Wunused-result -Werror
HARDEN := -fstack-protector-strong -fstack-clash-protection -fPIE -fcf-protection
INIT_VARS := $(if $(findstring clang,$(CC)),-ftrivial-auto-var-init=pattern,-ftrivial-auto-var-init=zero)

OPT_release := -O2 -g -D_FORTIFY_SOURCE=3
OPT_debug   := -O1 -g -D_FORTIFY_SOURCE=3
OPT_asan    := -O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer -DCONFINE_SANITIZER
OPT_ubsan   := -O1 -g -fsanitize=undefined -fno-sanitize-recover -DCONFINE_SANITIZER
OPT_layers  := $(OPT_release) -DGLOVEBOX_LAYERS
OPT_fuzz    := -O1 -g -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover -fno-omit-frame-pointer -DCONFINE_SANITIZER

PKGS := jansson libseccomp libmicrohttpd libpng libdeflate libturbojpeg libwebp x11 x11-xcb xtst xcb xcb-xtest xcb-shm xcb-damage \
        xcb-xfixes xcb-randr xcb-res xcb-xkb xcb-xinput xkbcommon sqlite3 libcurl libcares gnutls libssl libcrypto libzip dbus-1 libvncserver zlib
# run, check and bench install what is missing; everything else says what it is.
ifneq ($(filter-out run check check-all demo bench check-host dist uninstall clean,$(or $(MAKECMDGOALS),all)),)
ifeq ($(shell pkg-config --exists $(PKGS) 2>/dev/null && $(CC) -fsyntax-only -include wslay/wslay.h -x c /dev/null 2>/dev/null && echo all),)
$(error packages are missing: sudo apt-get install -y $(shell images/deps --missing build))
endif
endif
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
CFLAGS  += -std=gnu17 -D_GNU_SOURCE -DGLOVEBOX_VERSION='"$(VERSION)"' -I. $(PKG_CFLAGS) $(WARN) $(HARDEN) $(INIT_VARS) $(OPT_$(MODE)) -MMD -MP
LDFLAGS += -pie -Wl,-z,relro,-z,now $(filter -fsanitize%,$(OPT_$(MODE)))

# A program is the folders of its sources, and what it links beside the base library.
PROGRAMS := gloveboxd glovebox-front glovebox-stage glovebox glovebox-init glovebox-display glovebox-launch glovebox-access glovebox-files glovebox-egress glovebox-view glovebox-relay glovebox-battery
DIRS_gloveboxd        := session/warden sandbox/jail sandbox/confine
LIBS_gloveboxd        := gnutls
DIRS_glovebox-front   := session/front session/policy session/mcp session/journal sandbox/confine session/base/wiped
LIBS_glovebox-front   := jansson libmicrohttpd sqlite3 gnutls
NO_PC_glovebox-front  := -lwslay # Debian's has no file for pkg-config
DIRS_glovebox-stage   := session/stage session/dialects session/mcp session/policy session/journal display input apps sandbox/confine
LIBS_glovebox-stage   := jansson libpng libdeflate libturbojpeg libwebp x11 x11-xcb xcb xcb-xtest xcb-shm xcb-damage \
                         xcb-xfixes xcb-randr xcb-res xcb-xkb xcb-xinput xkbcommon gnutls
DIRS_glovebox         := session/cli session/replay
LIBS_glovebox         := jansson libcurl gnutls libpng libzip
NO_PC_glovebox        := -lwslay
DIRS_glovebox-init    := apps/init sandbox/confine
DIRS_glovebox-display := display/server sandbox/confine
DIRS_glovebox-launch  := apps/launcher
DIRS_glovebox-egress  := sandbox/egress sandbox/confine session/base/wiped
LIBS_glovebox-egress  := jansson libcurl libcares gnutls libssl libcrypto
DIRS_glovebox-access  := apps/access apps/access/wire
LIBS_glovebox-access  := dbus-1
DIRS_glovebox-files   := apps/files sandbox/confine
DIRS_glovebox-view    := display/view sandbox/confine
LIBS_glovebox-view    := libvncserver zlib
DIRS_glovebox-relay   := apps/relay sandbox/confine
DIRS_glovebox-battery := tests/escape
LIBS_glovebox-battery := xcb
NO_PC_glovebox-battery := -lXau -lXdmcp
STATIC := glovebox-files glovebox-relay glovebox-init glovebox-display glovebox-launch glovebox-access glovebox-battery
LDFLAGS_STATIC = $(if $(filter -fsanitize%,$(LDFLAGS)),$(LDFLAGS),$(filter-out -pie,$(LDFLAGS)) -static-pie -Wl,--no-warnings) # sanitizers cannot be static; libdbus warns of lookups that are not made

# Folder apps comes with the words that it shares with glovebox-access.
objs = $(patsubst %.c,$(B)/%.o,$(foreach d,$(1) $(if $(filter apps,$(1)),apps/access/wire),$(wildcard $(d)/*.c)))

# Built once its main_NAME.c is there.
all: $(addprefix $(B)/,$(foreach p,$(PROGRAMS),$(if $(wildcard $(firstword $(DIRS_$(p)))/main_*.c),$(p))))

$(B)/libbase.a: $(call objs,session/base session/base/x session/base/egress)
	@rm -f $@; ar rcs $@ $^

# Loops over the bytes of a picture, which -O2 of gcc does not vectorise.
$(B)/display/image.o: private CFLAGS += $(if $(filter release,$(MODE)),-O3)

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(CFLAGS) -c -o $@ $<

# What the front carries: its page, and the documents of actions and of a stage's schemas, printed from the rows that the stage joins.
ACTIONS := $(call objs,session/actions display input apps) $(B)/session/stage/rows.o $(B)/session/stage/forms.o $(B)/session/stage/shapes.o $(B)/libbase.a
$(B)/actions: $(ACTIONS)
	@$(CC) $(LDFLAGS) -o $@ $(ACTIONS) $(shell pkg-config --libs $(LIBS_glovebox-stage))
$(B)/actions.json: $(B)/actions
	@$< >$@
$(B)/schemas.json: $(B)/actions
	@$< --schemas >$@

# The filters of system calls: compiled of their tables here and now, by libseccomp, which no program links.
FILTERS := $(call objs,sandbox/filters) $(B)/libbase.a
$(B)/filters: $(FILTERS)
	@$(CC) $(LDFLAGS) -o $@ $(FILTERS) $(shell pkg-config --libs libseccomp)
$(B)/filters.rows: $(B)/filters
	@$< >$@
$(B)/sandbox/confine/filters.o: private CFLAGS += -DFILTER_ROWS='"$(B)/filters.rows"'
$(B)/sandbox/confine/filters.o: $(B)/filters.rows

CONSOLE := $(shell find display/console -type f)
$(B)/console.rows: session/front/list_assets display/console $(CONSOLE)
	@mkdir -p $(@D)
	@$< >$@

$(B)/session/front/assets.o: private CFLAGS += -DACTIONS_JSON='"$(B)/actions.json"' -DSCHEMAS_JSON='"$(B)/schemas.json"' -DCONSOLE_ROWS='"$(B)/console.rows"'
$(B)/session/front/assets.o: $(B)/console.rows $(B)/actions.json $(B)/schemas.json

$(B)/session/replay/html.o: $(wildcard session/replay/page.* session/replay/report.*)
$(B)/session/replay/export_page.o: $(wildcard session/replay/page.* session/replay/export.*)

define PROGRAM
$(B)/$(1): $(call objs,$(DIRS_$(1))) $(B)/libbase.a
	@echo "  LINK  $(1)"
	@$$(CC) $(if $(filter $(1),$(STATIC)),$$(LDFLAGS_STATIC),$$(LDFLAGS)) -o $$@ $$^ $(if $(LIBS_$(1)),$$(shell pkg-config --libs $(LIBS_$(1)))) $(NO_PC_$(1))
endef
$(foreach p,$(PROGRAMS),$(eval $(call PROGRAM,$(p))))

# Tests in C: each tests/unit/test_NAME.c is one cmocka program; a line "/* links: DIR… */" in it names the folders it tests, or a program with all of its. Those in
# tests/x start an X server of their own, by what else is in that folder.
UNIT := $(patsubst tests/%.c,$(B)/%,$(wildcard tests/unit/test_*.c))
XTESTS := $(patsubst tests/%.c,$(B)/%,$(wildcard tests/x/test_*.c))
without_main = $(foreach o,$(1),$(if $(findstring /main_,$(o)),,$(o)))
test_dirs = $(foreach d,$(shell sed -n 's|^/\* links: \(.*\) \*/|\1|p' tests/$(1).c),$(or $(DIRS_$(d)),$(d)))
define TEST
$(B)/$(1): $(B)/tests/$(1).o $(call without_main,$(call objs,$(call test_dirs,$(1)))) $(if $(filter x/%,$(1)),$(B)/tests/x/help.a) $(B)/libbase.a
	@mkdir -p $$(@D)
	@echo "  LINK  $(1)"
	@$$(CC) $$(LDFLAGS) -o $$@ $$^ $$(shell pkg-config --libs cmocka xcb-render xcb-shape $(PKGS)) -lwslay
endef
$(B)/tests/x/help.a: $(patsubst %.c,$(B)/%.o,$(filter-out tests/x/test_%,$(wildcard tests/x/*.c)))
	@rm -f $@; ar rcs $@ $^
$(foreach t,$(UNIT) $(XTESTS),$(eval $(call TEST,$(t:$(B)/%=%))))

$(B)/unit/test_init_run $(B)/unit/test_exec $(B)/x/test_launch $(B)/x/test_windows $(B)/x/test_arrange $(B)/x/test_window_pictures: | $(B)/glovebox-init $(B)/glovebox-launch

# A front for tests alone: with the fixtures that the conformance suite of MCP asks for.
$(B)/fixtures/glovebox-front: $(filter-out $(B)/session/mcp/no_more.o,$(call objs,$(DIRS_glovebox-front))) $(call objs,tests/mcp) $(B)/libbase.a
	@mkdir -p $(@D)
	@echo "  LINK  fixtures/glovebox-front"
	@$(CC) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs $(LIBS_glovebox-front)) -lwslay

# An app whose accessibility is hostile, a program that listens to that of others, and one that is in the way of all on the display; static: they run in
# the images.
$(B)/fixtures/liar $(B)/fixtures/overhear $(B)/fixtures/hostile: $(B)/fixtures/%: $(B)/tests/access/%.o
	@mkdir -p $(@D)
	@echo "  LINK  fixtures/$*"
	@$(CC) $(LDFLAGS_STATIC) -s -o $@ $^ $(shell pkg-config --static --libs xcb) $(shell pkg-config --libs dbus-1)

# A program that takes all it can get of one thing: static, it runs in the images.
$(B)/fixtures/hoard: $(B)/tests/exhaust/hoard.o
	@mkdir -p $(@D)
	@echo "  LINK  fixtures/hoard"
	@$(CC) $(LDFLAGS_STATIC) -s -o $@ $^ $(shell pkg-config --static --libs xcb)

# Preloaded into apps of the images: their toolkits' fields. Without what the mode adds.
$(B)/fixtures/fields.so: tests/access/fields.c
	@mkdir -p $(@D)
	@echo "  LINK  fixtures/fields.so"
	@$(CC) -std=gnu17 -D_GNU_SOURCE $(WARN) -O1 -fPIC -shared -o $@ $<

# What the bench measures with: the sources of tests/perf with a main, linked as tests are.
PERF_MAINS := $(patsubst tests/perf/%.c,%,$(shell grep -l '^int main' tests/perf/*.c))
PERF := $(PERF_MAINS:%=$(B)/perf/%)
$(B)/tests/perf/help.a: $(patsubst %.c,$(B)/%.o,$(filter-out $(PERF_MAINS:%=tests/perf/%.c),$(wildcard tests/perf/*.c)))
	@rm -f $@; ar rcs $@ $^
define PERF_PROGRAM
$(B)/perf/$(1): $(B)/tests/perf/$(1).o $(call without_main,$(call objs,$(call test_dirs,perf/$(1)))) $(B)/tests/perf/help.a $(B)/libbase.a
	@mkdir -p $$(@D)
	@echo "  LINK  perf/$(1)"
	@$$(CC) $$(LDFLAGS) -o $$@ $$^ $$(shell pkg-config --libs $(PKGS)) -lwslay
endef
$(foreach p,$(PERF_MAINS),$(eval $(call PERF_PROGRAM,$(p))))

bench-programs: $(PERF) $(B)/fixtures/hoard

# Fuzz targets, tests/fuzz/fuzz_NAME.c, linked as tests are: fuzzers with MODE=fuzz, else programs that run what they are given.
FUZZ := $(patsubst tests/%.c,$(B)/%,$(wildcard tests/fuzz/fuzz_*.c))
define FUZZ_PROGRAM
$(B)/$(1): $(B)/tests/$(1).o $(call without_main,$(call objs,$(call test_dirs,$(1)))) $(if $(filter fuzz,$(MODE)),,$(B)/tests/fuzz/replay.o) $(B)/libbase.a
	@mkdir -p $$(@D)
	@echo "  LINK  $(1)"
	@$$(CC) $$(LDFLAGS) $(if $(filter fuzz,$(MODE)),-fsanitize=fuzzer) -o $$@ $$^ $$(shell pkg-config --libs $(PKGS)) -lwslay
endef
$(foreach t,$(FUZZ),$(eval $(call FUZZ_PROGRAM,$(t:$(B)/%=%))))

fuzz: $(FUZZ)

unit-programs: $(UNIT) $(XTESTS) $(FUZZ) $(B)/fixtures/glovebox-front $(B)/fixtures/liar $(B)/fixtures/overhear $(B)/fixtures/hostile $(B)/fixtures/hoard $(B)/fixtures/fields.so

unit: unit-programs
	@for t in $(UNIT); do $$t || exit 1; done

xtests: $(XTESTS)
	@for t in $(XTESTS); do $$t || exit 1; done

run:
	@STATE=$(STATE) session/run

check:
	@STATE=$(STATE) tests/run

# With the tests that say once more, under load or some thousand times, what others say.
check-all:
	@STATE=$(STATE) tests/run --all

# A log-in with a person in the loop: you, or with AUTO=1 a browser.
demo:
	@STATE=$(STATE) AUTO=$(AUTO) tests/demo/run

bench:
	@STATE=$(STATE) session/setup bench >&2
	@STATE=$(STATE) tests/perf/bench

# Debian's own kernel with systemd and nothing but cgroup v2, in an emulated machine, with what `make install` installs.
check-host:
	@STATE=$(STATE) tests/host/run

# What other layer holds when one is off: the escape battery once for each, in a build whose layers can be switched off.
check-layers:
	@$(MAKE) -s MODE=layers all
	@GLOVEBOX_BUILD=$(CURDIR)/build-layers GLOVEBOX_IMAGES=$(STATE)/images /usr/bin/python3 tests/escape/layers.py

install: all
	@B=$(B) MODE=$(MODE) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) session/install $(addprefix $(B)/,$(PROGRAMS))

uninstall:
	@DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) session/install --remove

dist:
	@mkdir -p $(B)
	@session/dist $(VERSION) $(B) $(addprefix build/,$(PROGRAMS))

clean:
	rm -rf build build-*

.PHONY: all bench-programs fuzz unit unit-programs xtests run check check-all demo check-host check-layers bench install uninstall dist clean
.DELETE_ON_ERROR:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
