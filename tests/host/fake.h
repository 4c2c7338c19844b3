/* SPDX-License-Identifier: BSD-2-Clause */
/* How does a test build a fake machine with disks in it, make them misbehave, and see what came? */
#ifndef TESTS_HOST_FAKE_H
#define TESTS_HOST_FAKE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include <arch/machine.h>

/* ---- Rules: each access is judged; the first violation of the test is kept ---- */

/* @fmt starts with the id of the conformance or fault row, e.g. "PCI-COM-04: …". */
void fake_violate(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *fake_violation(void); /* NULL if there was none */
/* Called at each violation on the driver's thread; may leave by longjmp. NULL: only record. */
void fake_on_violation(void (*hook)(const char *text));
/* An empty machine: no devices, no memory in use, no violation, default clock. */
void fake_reset(void);

/* ---- Memory ---- */

void host_reset(void);
/* Counts a register access and lets its time pass. */
void host_access(void);
/* Is [addr, addr + bytes) inside one live dma_alloc() allocation? */
bool host_dma_ok(uint64_t addr, uint64_t bytes);
/* Until the next reset, memory is such as legacy devices reach: below 2^44. Before any is taken. */
void host_low_memory(void);

/* ---- PCI (fake_pci.c) ---- */

enum fake_bar_type { FAKE_BAR_NONE, FAKE_BAR_MEM32, FAKE_BAR_MEM64, FAKE_BAR_IO };

struct fake_bar {
	enum fake_bar_type type;
	uint64_t base, bytes;  /* base 0: left unassigned by firmware */
	unsigned address_bits; /* 64-bit BARs: how many are implemented */
};

struct fake_function {
	uint8_t bus, device, number;
	bool ghost; /* answers under all eight function numbers, as some single-function parts do */
	bool gone;  /* reads give all-ones */
	uint8_t config[4096];
	struct fake_bar bar[6];
	struct {
		uint8_t offset, bytes, id;
	} cap[32];
	unsigned nr_caps;
	unsigned config_reads, config_writes;
	uint32_t (*read)(struct fake_function *fn, unsigned bar, uint64_t offset, unsigned width);
	void (*write)(struct fake_function *fn, unsigned bar, uint64_t offset, uint32_t value,
		      unsigned width);
	void *owner;
};

struct fake_function *fake_pci_add(unsigned bus, unsigned device, unsigned number,
				   uint16_t vendor_id, uint16_t device_id);
struct fake_function *fake_pci_bridge(unsigned bus, unsigned device, unsigned number,
				      uint8_t secondary, uint8_t subordinate);
void fake_pci_bar(struct fake_function *fn, unsigned index, enum fake_bar_type type, uint64_t base,
		  uint64_t bytes);
/* Appends a capability of @bytes to the list; byte 1 (next) is filled in. Returns its offset. */
uint8_t fake_pci_cap(struct fake_function *fn, const void *cap, unsigned bytes);
void fake_pci_put(struct fake_function *fn, unsigned offset, uint32_t value, unsigned width);
uint16_t fake_pci_command(const struct fake_function *fn);
/* Is configuration space reachable by ports CF8/CFC (the default), by ECAM (default: not)? */
void fake_pci_ports(bool on);
void fake_pci_ecam(uint64_t base, uint8_t first_bus, uint8_t last_bus);

uint32_t fake_mem_read(uint64_t phys, unsigned width);
void fake_mem_write(uint64_t phys, uint32_t value, unsigned width);

/* ---- The local APICs, and the lines of the IOAPIC (fake_apic.c) ---- */

void fake_apic_reset(void);
/* A write of a device to the address of a message: it stays pending until that CPU waits. */
void fake_apic_message(uint64_t address, uint32_t data);

/* ---- A virtio disk ---- */

#define FAKE_QUEUES 64 /* that work; @num_queues may be more, and the others have size 0 */
#define FAKE_BIT(n) (1ull << (n))
enum { /* feature bits */
       FAKE_SIZE_MAX = 1,
       FAKE_SEG_MAX = 2,
       FAKE_GEOMETRY = 4,
       FAKE_RO = 5,
       FAKE_BLK_SIZE = 6,
       FAKE_FLUSH = 9,
       FAKE_TOPOLOGY = 10,
       FAKE_CONFIG_WCE = 11,
       FAKE_MQ = 12,
       FAKE_DISCARD = 13,
       FAKE_WRITE_ZEROES = 14,
       FAKE_LIFETIME = 15,
       FAKE_SECURE_ERASE = 16,
       FAKE_NOTIFY_ON_EMPTY = 24,
       FAKE_ANY_LAYOUT = 27,
       FAKE_INDIRECT_DESC = 28,
       FAKE_EVENT_IDX = 29,
       FAKE_VERSION_1 = 32,
       FAKE_ACCESS_PLATFORM = 33,
       FAKE_RING_PACKED = 34,
       FAKE_IN_ORDER = 35,
       FAKE_ORDER_PLATFORM = 36,
       FAKE_NOTIFICATION_DATA = 38,
       FAKE_NOTIF_CONFIG_DATA = 39,
       FAKE_RING_RESET = 40,
};
enum { /* device status */
       FAKE_S_ACKNOWLEDGE = 1,
       FAKE_S_DRIVER = 2,
       FAKE_S_DRIVER_OK = 4,
       FAKE_S_FEATURES_OK = 8,
       FAKE_S_NEEDS_RESET = 64,
       FAKE_S_FAILED = 128,
};
enum { FAKE_COMMON = 1, FAKE_NOTIFY, FAKE_ISR, FAKE_DEVICE, FAKE_PCI_CFG }; /* cfg_type */

enum fake_service {
	FAKE_NOTIFIED, /* takes buffers only when notified */
	FAKE_POLLING,  /* looks by itself at each step and asks for no notification */
};
enum fake_finish {
	FAKE_AT_ONCE, /* completes what it takes */
	FAKE_ON_STEP, /* completes at cpu_relax() and fake_step() */
	FAKE_HELD,    /* completes at fake_complete() only */
};
enum fake_order { FAKE_FIFO, FAKE_REVERSE, FAKE_RANDOM };
enum fake_event {
	FAKE_EVENT_NEXT,  /* asks for a notification at the next buffer */
	FAKE_EVENT_FIXED, /* avail_event, or the descriptor event, stays at @event_value */
};
enum fake_lie {
	FAKE_HONEST,
	FAKE_DROP,	  /* never completes the request */
	FAKE_TWICE,	  /* completes it twice */
	FAKE_BAD_ID,	  /* completes it under the id @lie_value */
	FAKE_BAD_LEN,	  /* reports @lie_value bytes */
	FAKE_STATUS,	  /* ends it with status @lie_value */
	FAKE_NO_STATUS,	  /* leaves the status byte as it was */
	FAKE_SHORT,	  /* transfers, and reports, @lie_value bytes of data and no status */
	FAKE_IDX_JUMP,	  /* moves the used index by @lie_value more than it should; packed: marks
			     that many further slots as used */
	FAKE_FLAGS,	  /* packed: inverts the bits @lie_value of the used flags */
	FAKE_NEEDS_RESET, /* sets DEVICE_NEEDS_RESET instead */
	FAKE_VANISH,	  /* all registers read all-ones from then on */
};

enum { /* descriptor flags; the last two in the packed ring only */
       FAKE_D_NEXT = 1,
       FAKE_D_WRITE = 2,
       FAKE_D_INDIRECT = 4,
       FAKE_D_AVAIL = 0x80,
       FAKE_D_USED = 0x8000,
};

struct fake_desc { /* of either ring: the last two fields are next, or id and flags, swapped */
	uint64_t addr;
	uint32_t len;
	uint16_t word[2];
};

enum fake_face { FAKE_MODERN, FAKE_TRANSITIONAL, FAKE_LEGACY };

struct fake_seg {
	uint64_t addr;
	uint32_t len;
	bool write;
};

struct fake_chain { /* one buffer, as the driver described it */
	bool busy;
	bool bad;	      /* hostile: what it says is no request of ours */
	uint16_t queue, head; /* where its first descriptor was */
	bool write;	      /* a block request that writes */
	uint16_t id;	      /* what it is called when it is used; split: the head */
	unsigned slots;	      /* of the ring */
	unsigned nr_segs, max_segs;
	bool indirect;
	struct fake_seg *seg;
	struct fake_raw { /* each descriptor read, to be compared when it is used */
		uint64_t where, bytes[2];
	} * raw;
	unsigned nr_raw;
};

struct fake_queue {
	const struct fake_ring *format;
	uint16_t size, max_size, vector;
	bool enabled, notified;
	bool resetting, was_reset; /* by queue_reset */
	unsigned reset_left;
	uint16_t resets;
	bool await_vector;	   /* a vector was mapped and not read back */
	unsigned written;	   /* bit per register half that was set since reset */
	uint64_t ring[3];	   /* descriptors, driver area, device area */
	uint16_t last_avail, used; /* free-running */
	uint16_t in_order;	   /* split with IN_ORDER: the next head */
	uint64_t seen;		   /* position at the last look */
	struct fake_chain *chain;  /* split: by head */
	uint16_t *owner;	   /* by descriptor: head + 1 of the buffer that it is part of */
	uint16_t *pending;	   /* indices into @chain: taken and not completed */
	unsigned nr_pending;
	struct fake_packed {
		uint64_t taken, used;	  /* slots since the queue was enabled */
		struct fake_desc *shadow; /* by slot: what the device found there */
		uint8_t *in_flight;	  /* by buffer id */
		unsigned next_chain;
		bool lied; /* so that what the driver owns cannot be told any more */
	} packed;
	uint64_t notifications; /* all that came */
	uint64_t unneeded;	/* of these, with new buffers, though suppressed */
	uint64_t repeated;	/* of these, without new buffers */
	uint64_t interrupts;	/* used-buffer notifications that the driver asked for */
	uint64_t batches;	/* looks that found new buffers */
};

struct fake_request {
	uint32_t type, bytes;
	uint16_t queue;
	uint64_t sector;
	unsigned data_segs, descs;
	bool indirect;
};

struct fake_region {
	uint8_t bar;
	uint64_t offset;
	uint32_t bytes;
};

struct fake_disk {
	/* What a test sets, before fake_disk_plug(): */
	enum fake_face face;
	uint16_t device_id; /* 0x1042; 0x1001 unless @face is FAKE_MODERN */
	uint64_t bar_base;  /* of BAR4, the memory BAR */
	bool bar32;	    /* BAR4 is a 32-bit one */
	unsigned io_mask;   /* bit FAKE_x: that structure is in BAR0, the I/O BAR */
	uint32_t notify_multiplier;
	uint16_t notify_off[FAKE_QUEUES];
	uint32_t common_bytes; /* 0: what the offered features need */
	uint32_t device_bytes;
	unsigned cap_extra; /* added to each cap_len */
	struct {
		unsigned entries;	     /* 1 to 2048; 0: no capability */
		uint8_t bar, pba_bar;	     /* 1 or 2, which are made for it, or 4 */
		uint32_t offset, pba_offset; /* multiples of 8 */
	} msix_place;
	uint8_t line; /* Interrupt Line register */
	/* or at any time: */
	uint64_t features;
	uint16_t num_queues;
	int32_t config_queues; /* num_queues of the device configuration; -1: as @num_queues */
	uint16_t queue_size[FAKE_QUEUES]; /* 0: that queue is not there */
	unsigned reset_reads;		  /* status reads that a reset takes */
	bool reset_never, refuse_features_ok;
	unsigned queue_reset_reads; /* the same of queue_reset, with RING_RESET */
	bool queue_reset_never;
	bool size_fixed; /* writes to queue_size have no effect */
	uint64_t capacity, other_capacity;
	uint64_t capacity_flips; /* how often a read of half of it swaps the two */
	bool flip_silently;	 /* without a new generation: for a check of the check */
	uint32_t size_max, seg_max, blk_size;
	uint8_t writeback;
	char id[21];
	enum fake_service service;
	enum fake_finish finish;
	enum fake_order order;
	enum fake_event event;
	uint16_t event_value;
	bool junk;			       /* junk in what the driver must ignore */
	unsigned used_batch;		       /* with IN_ORDER, buffers per used entry; 0: 1 */
	uint64_t lose;			       /* notifications to swallow */
	uint16_t default_vector;	       /* of all events after a reset; 0xffff */
	unsigned refuse_mapping;	       /* the Nth mapping of a vector from now; 0: none */
	uint64_t refuse_queues, refuse_config; /* bit per queue whose vectors are refused; all */
	unsigned bad_word;		/* of the MSI-X table, from 1: keeps nothing; 0: none */
	uint64_t lose_irqs, twice_irqs; /* interrupts to swallow; to raise twice */
	uint64_t delay_irq_ns;		/* how long each takes; lock-step only */
	enum fake_lie lie;
	uint32_t lie_value;
	uint64_t lie_at, lie_count; /* for requests lie_at … lie_at + lie_count - 1, from 0 */

	struct fake_hostile *hostile; /* NULL: not hostile. See fake_hostile.h */

	/* What a test sees: */
	struct fake_function *fn;
	struct fake_region region[5]; /* by cfg_type */
	bool by_legacy;		      /* the legacy registers are in use */
	uint8_t status;

	uint8_t status_log[128]; /* all writes */
	unsigned nr_status;
	uint64_t accepted;    /* features */
	bool failed;	      /* FAILED was written since the last reset */
	uint64_t nr_requests; /* taken */
	uint64_t nr_done;
	unsigned max_descs; /* in one buffer */
	unsigned max_data_segs;
	uint64_t nr_indirect;
	uint64_t flush_races;  /* flushes that came while a write was in flight */
	uint64_t config_reads; /* of the device configuration */
	uint64_t isr_reads;
	uint64_t messages;	       /* sent by MSI-X */
	uint64_t pba_reads;	       /* of the pending bits */
	struct fake_request log[4096]; /* request n is at n % 4096 */
	struct fake_queue queue[FAKE_QUEUES];

	/* The device's own: */
	struct fake_disk *next;
	bool plugged, written_zero, await_zero, await_status, ready;
	unsigned reset_left, selected; /* selected: bit per select register written */
	uint32_t device_select, driver_select;
	uint16_t queue_select, config_vector;
	unsigned features_read;
	uint8_t generation, isr;
	uint8_t *store, *stored; /* the first FAKE_STORE sectors, where written */
	unsigned writes_out;
	uint32_t random;
	bool await_config_vector;
	struct fake_msix {
		uint8_t cap;	   /* offset of the capability */
		uint32_t *table;   /* four words per entry */
		uint64_t *pending; /* the PBA */
		struct fake_late { /* raised, and not yet out */
			uint64_t due_ns;
			uint16_t vector;
			uint8_t isr;
		} late[64];
		unsigned nr_late;
	} msix;
	pthread_t thread;
	pthread_mutex_t lock;
	sem_t bell;
	bool threaded, stop;
};

/* Defaults: an honest modern disk of 32768 sectors, one queue of 16, all that QEMU 7.2 offers. */
void fake_disk_init(struct fake_disk *disk);
/* Puts it on the bus without capabilities; then add these one by one, or the usual ones. */
void fake_disk_plug(struct fake_disk *disk, unsigned bus, unsigned device, unsigned number);
uint8_t fake_disk_cap(struct fake_disk *disk, uint8_t cfg_type, uint8_t bar, uint32_t offset,
		      uint32_t length);
void fake_disk_caps(struct fake_disk *disk);
/* init + plug at 00:03.0 + caps */
void fake_disk_usual(struct fake_disk *disk);

/* The device looks at its rings, and completes what it may; or looks at one of them. */
void fake_step(void);
void fake_queue_look(struct fake_disk *disk, struct fake_queue *queue);
/* Completes up to @n held requests of queue 0, or of queue @index; returns how many. */
unsigned fake_complete(struct fake_disk *disk, unsigned n);
unsigned fake_complete_on(struct fake_disk *disk, unsigned index, unsigned n);
/* DEVICE_NEEDS_RESET appears; all registers, configuration space too, read all-ones for good. */
void fake_needs_reset(struct fake_disk *disk);
void fake_vanish(struct fake_disk *disk);
/* The configuration changes, and the driver is told. */
void fake_config_change(struct fake_disk *disk);
/* Is MSI-X enabled? */
bool fake_msix_on(const struct fake_disk *disk);
/* An interrupt of queue @index, or for @index -1 of the configuration, out of nothing. */
void fake_spurious(struct fake_disk *disk, int index);
const struct fake_request *fake_last(const struct fake_disk *disk);
uint32_t fake_random(struct fake_disk *disk);
struct fake_disk *fake_disks(void);

/* From here to fake_thread_stop() a thread plays the device, with delays, out of order. */
void fake_thread_start(struct fake_disk *disk, uint32_t seed);
void fake_thread_stop(struct fake_disk *disk);

/* Each sector of 512 bytes carries its number in each of its words until it is written. */
#ifndef FAKE_STORE
#define FAKE_STORE 32768
#endif
void fake_stamp(void *data, uint64_t sector, uint32_t sectors);
bool fake_stamp_ok(const void *data, uint64_t sector, uint32_t sectors);

#endif
