# SPDX-License-Identifier: BSD-2-Clause
# make help   says what can be made.

CROSS_COMPILE ?=
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
HOSTCC  ?= $(if $(findstring clang,$(CC)),clang,gcc)
OBJCOPY ?= $(CROSS_COMPILE)objcopy
SIZE    ?= $(CROSS_COMPILE)size
PYTHON  ?= /usr/bin/python3
DEBUG   ?= 0
V       ?= 0
JOBS    ?= 2
B       := build

ifeq ($(V),1)
Q :=
else
Q := @
MAKEFLAGS += --no-print-directory
endif
say = @printf '  %-7s %s\n' $(1) $(2)

WARN := -Wall -Wextra -Werror -Wshadow -Wpointer-arith -Wcast-qual -Wwrite-strings \
	-Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Wformat=2 -Wimplicit-fallthrough
OPT  := $(if $(filter 1,$(DEBUG)),-O1 -DDEBUG=1,-O2)
# What a request passes through is made fast, the rest small. A backtrace ends at the former.
COLD := $(if $(filter 1,$(DEBUG)),,-Os)
FAST := $(if $(filter 1,$(DEBUG)),,-fomit-frame-pointer)
HOT  := drivers/block/blk_io.c drivers/block/blk_odd.c drivers/block/blk_port.c \
	drivers/block/blk_long.c \
	drivers/virtio/split.c drivers/virtio/split_long.c drivers/virtio/packed.c \
	drivers/virtio/packed_long.c drivers/virtio/long.c \
	kernel/bench/job.c kernel/bench/hash.c kernel/bench/lane.c kernel/bench/lane_wait.c \
	kernel/bench/waiter.c lib/crc32c.c lib/mem.c
COMMON := -std=gnu11 -g $(WARN) -I. -MMD -MP

# The kernel: no red zone, no vector registers, nothing that needs a C library.
KCFLAGS := $(COMMON) $(OPT) -Iarch/x86_64/include -ffreestanding -fno-pie -fno-pic -m64 \
	-mno-red-zone -mgeneral-regs-only -fno-asynchronous-unwind-tables -fno-omit-frame-pointer \
	-fstack-protector-strong -ffunction-sections -fdata-sections -fno-common
KLDFLAGS := -nostdlib -static -Wl,--gc-sections -Wl,-z,max-page-size=4096 \
	-Wl,-z,noexecstack -Wl,--build-id=none -Wl,--no-warn-rwx-segments

# The host: the same code, checked as it runs.
HSAN    := -fsanitize=address,undefined -fno-sanitize-recover=all
HCFLAGS := $(COMMON) -O1 -Itests/host/include $(HSAN) -fno-omit-frame-pointer
HLDLIBS := -lcmocka -lpthread

LIB_SRC    := $(wildcard lib/*.c)
ARCH_SRC   := $(wildcard arch/x86_64/*.c arch/x86_64/*.S)
DRIVER_SRC := $(wildcard drivers/*/*.c)
KERNEL_SRC := $(wildcard kernel/*.c kernel/bench/*.c)
KERNEL_OBJ := $(patsubst %,$(B)/kernel/%.o,$(LIB_SRC) $(ARCH_SRC) $(DRIVER_SRC) $(KERNEL_SRC))

# What also runs on the host: all of lib (its own memcpy apart), the drivers, the benchmark.
HOST_SRC  := $(filter-out lib/mem.c,$(LIB_SRC)) $(DRIVER_SRC) $(wildcard kernel/bench/*.c) \
	$(wildcard tests/host/*.c)
HOST_OBJ  := $(patsubst %,$(B)/host/%.o,$(HOST_SRC))
UNIT_SRC  := $(wildcard tests/unit/test_*.c)
UNIT_BIN  := $(patsubst tests/unit/%.c,$(B)/unit/%,$(UNIT_SRC))

.PHONY: all
all: $(B)/ringlab.elf ## the kernel, build/ringlab.elf (the default)

$(B)/ringlab.elf: $(KERNEL_OBJ) linker/ringlab.lds
	$(call say,LD,$@)
	$(Q)$(CC) $(KCFLAGS) $(KLDFLAGS) -Wl,-T,linker/ringlab.lds -o $@ $(KERNEL_OBJ)

# Objects depend on the commands that make them: another CC or DEBUG rebuilds, the same does not.
FLAGS_LINE = $(CC) $(KCFLAGS) $(COLD) $(FAST) $(HOT) $(KLDFLAGS) / $(HOSTCC) $(HCFLAGS) $(PCFLAGS) $(TCFLAGS) / $(FUZZCC) $(FUZZ_CFLAGS)
$(B)/.flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(FLAGS_LINE)' | cmp -s - $@ || printf '%s\n' '$(FLAGS_LINE)' >$@
.PHONY: FORCE
FORCE:

$(B)/kernel/%.c.o: %.c $(B)/.flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(KCFLAGS) $(if $(filter $<,$(HOT)),$(FAST),$(COLD)) -c -o $@ $<

$(B)/kernel/%.S.o: %.S $(B)/.flags
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(KCFLAGS) -c -o $@ $<

$(B)/host/%.c.o: %.c $(B)/.flags
	$(call say,HOSTCC,$<)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(HCFLAGS) -c -o $@ $<

$(B)/libhost.a: $(HOST_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/unit/%: $(B)/host/tests/unit/%.c.o $(B)/libhost.a
	$(call say,HOSTLD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(HCFLAGS) -o $@ $(filter %.o,$^) $(B)/libhost.a $(HLDLIBS)
.SECONDARY:

# Of the machine, what only reads tables.
$(B)/unit/test_madt: $(B)/host/arch/x86_64/madt.c.o

# The host again, without the sanitizers and optimised like the kernel: for counting instructions.
PERF_SRC := $(filter-out tests/host/%,$(HOST_SRC)) $(wildcard tests/host/fake*.c) \
	tests/host/machine.c tests/perf/hotpath.c
PERF_OBJ := $(patsubst %,$(B)/perf/%.o,$(PERF_SRC))
PCFLAGS  := $(COMMON) -O2 -Itests/host/include

$(B)/perf/%.c.o: %.c $(B)/.flags
	$(call say,HOSTCC,$<)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(PCFLAGS) -c -o $@ $<

$(B)/perf/hotpath: $(PERF_OBJ)
	$(call say,HOSTLD,$@)
	$(Q)$(HOSTCC) $(PCFLAGS) -o $@ $^ -lpthread

# The ring by itself, likewise.
RINGBENCH_OBJ := $(patsubst %,$(B)/perf/%.o,$(filter-out tests/perf/%,$(PERF_SRC)) \
	$(wildcard tests/ringbench/*.c))
$(B)/perf/ringbench: $(RINGBENCH_OBJ)
	$(call say,HOSTLD,$@)
	$(Q)$(HOSTCC) $(PCFLAGS) -o $@ $^ -lpthread

# Tests that have the device, and further CPUs, in threads of their own, once more under
# ThreadSanitizer: on x86 nothing else sees that a release or an acquire is missing.
TSAN_TESTS := test_notify test_packed_thread test_pci_threads test_port_threads test_reset_threads
TSAN_SRC   := $(TSAN_TESTS:%=tests/unit/%.c)
TSAN_BIN   := $(TSAN_TESTS:%=$(B)/unit/%-tsan)
TSAN_OBJ   := $(patsubst %,$(B)/tsan/%.o,$(HOST_SRC))
TCFLAGS    := $(COMMON) -O1 -Itests/host/include -fsanitize=thread

$(B)/tsan/%.c.o: %.c $(B)/.flags
	$(call say,HOSTCC,$<)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(TCFLAGS) -c -o $@ $<

$(TSAN_BIN): $(B)/unit/%-tsan: $(B)/tsan/tests/unit/%.c.o $(TSAN_OBJ)
	$(call say,HOSTLD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(TCFLAGS) -o $@ $^ $(HLDLIBS)

# Fuzz targets: libFuzzer is clang's. With any compiler each is also a unit program, which replays the
# inputs that are checked in.
FUZZCC      ?= clang
FUZZ_CFLAGS := $(COMMON) -O1 -Itests/host/include -DFAKE_STORE=256 -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_SRC    := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_SHARED := tests/fuzz/fuzz.c $(wildcard tests/fuzz/hostile*.c)
FUZZ_OBJ    := $(patsubst %,$(B)/fuzz/%.o,$(filter-out tests/host/%rig.c,$(HOST_SRC)) $(FUZZ_SHARED))
FUZZ_BIN    := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(FUZZ_SRC))
REPLAY_BIN  := $(patsubst tests/fuzz/%.c,$(B)/unit/%,$(FUZZ_SRC))
FUZZ_SECONDS ?= 60

$(B)/fuzz/%.c.o: %.c $(B)/.flags
	$(call say,FUZZCC,$<)
	@mkdir -p $(@D)
	$(Q)$(FUZZCC) $(FUZZ_CFLAGS) -c -o $@ $<

$(B)/fuzz/libhost.a: $(FUZZ_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(FUZZ_BIN): $(B)/fuzz/%: $(B)/fuzz/tests/fuzz/%.c.o $(B)/fuzz/libhost.a
	$(call say,FUZZLD,$@)
	$(Q)$(FUZZCC) -fsanitize=fuzzer,address,undefined -o $@ $< $(B)/fuzz/libhost.a -lpthread

$(REPLAY_BIN): $(B)/unit/%: $(B)/host/tests/fuzz/%.c.o $(B)/host/tests/fuzz/replay.c.o \
		$(patsubst %,$(B)/host/%.o,$(FUZZ_SHARED)) $(B)/libhost.a
	$(call say,HOSTLD,$@)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(HCFLAGS) -o $@ $^ $(HLDLIBS)

.PHONY: fuzz
fuzz: $(FUZZ_BIN) ## look for inputs that fail, for a minute; FUZZ_SECONDS=
	$(Q)tools/fuzz $(FUZZ_SECONDS) $(JOBS) $(FUZZ_BIN)

.PHONY: fuzz-long
fuzz-long: $(FUZZ_BIN) ## the same for an hour
	$(Q)tools/fuzz 3600 $(JOBS) $(FUZZ_BIN)

UNIT_PROGRAMS := $(UNIT_BIN) $(REPLAY_BIN) $(TSAN_BIN)

.PHONY: unit
unit: $(UNIT_PROGRAMS) ## unit tests on the host, under ASan, UBSan and TSan
	$(Q)tools/unit-tests $(UNIT_PROGRAMS)

.PHONY: boot-test
boot-test: $(B)/ringlab.elf ## boot tests in QEMU
	$(Q)$(PYTHON) -m pytest -q -n $(JOBS) -p no:cacheprovider tests/boot

.PHONY: test
test: $(B)/ringlab.elf $(UNIT_PROGRAMS) $(FUZZ_BIN) ## everything that tests; ends with N passed, N failed, N skipped
	$(Q)CC='$(CC)' FUZZ='$(FUZZ_BIN)' tools/test-all $(JOBS) $(UNIT_PROGRAMS)

.PHONY: conformance
conformance: $(B)/ringlab.elf $(UNIT_PROGRAMS) ## which rules tests stand for; writes docs/conformance.md
	$(Q)tools/conformance --jobs $(JOBS) $(UNIT_PROGRAMS)

.PHONY: bench
bench: $(B)/ringlab.elf ## IOPS of a null disk and of a real image, at depths 1 to 64
	$(Q)tools/ringlab bench

.PHONY: rival
rival: $(B)/ringlab.elf ## ratios to qemu-img bench on the same disks
	$(Q)tools/ringlab rival

.PHONY: rival-linux
rival-linux: $(B)/ringlab.elf ## ratios to Linux and fio in the same QEMU; downloads a kernel to build/
	$(Q)tools/ringlab rival-linux

.PHONY: insns
insns: $(B)/ringlab.elf $(B)/perf/hotpath ## guest instructions per I/O, and those of each path
	$(Q)tools/ringlab insns

.PHONY: ringbench
ringbench: $(B)/perf/ringbench ## the ring by itself: ns and instructions per buffer; RINGTEST=DIR to compare
	$(Q)tools/ringbench $(if $(RINGTEST),--ringtest $(RINGTEST))

# SOAK_CPUS=4 SOAK_ARGS='number_ios=100000': later words of the same key win.
SOAK_CPUS ?= 1
SOAK_ARGS ?=
.PHONY: soak-irq
soak-irq: $(B)/ringlab.elf ## five million I/Os at depth 1, each waited for by interrupt (minutes)
	$(Q)tools/ringlab run --smp $(SOAK_CPUS) --disk null --timeout 1800 -- name=soak blk.mode=irq rw=randread \
		iodepth=1 io_size=20g number_ios=5000000 $(SOAK_ARGS)

.PHONY: soak-boot
soak-boot: $(B)/ringlab.elf ## two hundred boots with eight CPUs (minutes)
	$(Q)RINGLAB_BOOTS=200 $(PYTHON) -m pytest -q -n $(JOBS) -p no:cacheprovider \
		tests/boot/test_smp.py -k boot_loop

.PHONY: lint
lint: ## formatting, static checks, include directions, both compilers
	$(Q)tools/lint
	$(Q)$(MAKE) CC=gcc B=$(B)/lint-gcc $(B)/lint-gcc/ringlab.elf
	$(Q)$(MAKE) CC=clang B=$(B)/lint-clang $(B)/lint-clang/ringlab.elf
	@echo "lint: clean"

.PHONY: format
format: ## clang-format all C
	$(Q)clang-format -i $$(git ls-files '*.c' '*.h')

.PHONY: clean
clean: ## remove build/
	$(Q)rm -rf $(B)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  variables: CC=clang  CROSS_COMPILE=x86_64-linux-gnu-  DEBUG=1  V=1"

-include $(KERNEL_OBJ:.o=.d) $(HOST_OBJ:.o=.d) $(PERF_OBJ:.o=.d) $(RINGBENCH_OBJ:.o=.d) $(TSAN_OBJ:.o=.d) $(FUZZ_OBJ:.o=.d) \
	$(patsubst %,$(B)/tsan/%.d,$(TSAN_SRC)) $(patsubst %,$(B)/fuzz/%.d,$(FUZZ_SRC)) \
	$(patsubst %,$(B)/host/%.d,$(wildcard tests/fuzz/*.c) $(UNIT_SRC:.c=.c))
