/* SPDX-License-Identifier: BSD-2-Clause */
/* What is sent to a hostile disk, and what must hold of each request that comes back? */
#include <string.h>

#include "tests/fuzz/hostile_rig.h"

#define SECTOR	     512u
#define WRITES_FROM  192u /* reads end before, so that they find what nobody wrote */
#define PIECE_STRIDE 576u /* pieces that do not touch */

bool hostile_honest(void)
{
	return rig.hostile.lies == 0 && !rig.scribbled;
}

bool hostile_in_time(void)
{
	unsigned i;

	for (i = 0; i < rig.nr_ports; i++)
		if (blk_port_counters(&rig.port[i]).timeouts)
			return false;
	return true;
}

/* ---- Down ---- */

static uint8_t *data_of(const struct hostile_request *r)
{
	return rig.data + (size_t)(r - rig.request) * HOSTILE_DATA_BYTES;
}

static uint64_t sector(uint8_t op, unsigned choice)
{
	return op == BLK_WRITE ? WRITES_FROM + choice % 4 * 8 : choice % 16 * 8;
}

static struct hostile_request *fresh(unsigned from)
{
	while (from < HOSTILE_REQUESTS && rig.request[from].out)
		from++;
	return from < HOSTILE_REQUESTS ? &rig.request[from] : NULL;
}

static void add_piece(struct hostile_request *r, uint32_t offset, uint32_t bytes)
{
	uint8_t *at = data_of(r) + offset;

	memset(at, 0xaa, bytes);
	fuzz_check(sgl_add(&r->req.sgl, &rig.pool, dma_map(at, bytes), bytes), "no piece left");
}

static void fill(struct hostile_request *r, uint8_t op, uint64_t lba_512)
{
	r->req = (struct blk_request){.op = op, .lba_512 = lba_512};
	r->odd = false;
}

static void forget(struct hostile_request *r)
{
	if (r->req.sgl.chunks)
		sgl_clear(&r->req.sgl, &rig.pool);
}

static void send(struct blk_port *port, struct hostile_request **list, unsigned n)
{
	struct blk_request *reqs[HOSTILE_REQUESTS];
	unsigned i, taken;

	for (i = 0; i < n; i++)
		reqs[i] = &list[i]->req;
	taken = blk_port_submit(port, reqs, n);
	fuzz_check(taken <= n, "more was taken than was given");
	for (i = 0; i < n; i++) {
		list[i]->out = i < taken;
		list[i]->port = port;
		if (i >= taken)
			forget(list[i]);
	}
	rig.nr_out += taken;
}

/* Bit 6 of @word: prepared; bit 7: as it was prepared before, for another place. */
void hostile_submit(struct blk_port *port, unsigned word, unsigned more)
{
	struct hostile_request *list[HOSTILE_REQUESTS], *r = fresh(0);
	unsigned n, wanted = 1 + more % 8;
	uint8_t op = more & 16 ? BLK_WRITE : BLK_READ;

	for (n = 0; r && n < wanted; r = fresh((unsigned)(r - rig.request) + 1)) {
		list[n++] = r;
		if ((word & 0x80) && r->req.prepared.queue == port->queue) {
			r->req.lba_512 = sector(r->req.op, more >> 5);
			continue;
		}
		fill(r, op, sector(op, more >> 5));
		add_piece(r, 0, more & 8 ? SECTOR : 8 * SECTOR);
		if (word & 0x40)
			blk_prepare(port->queue, &r->req);
	}
	send(port, list, n);
}

void hostile_submit_long(struct blk_port *port, unsigned more)
{
	struct hostile_request *r = fresh(0);
	uint8_t op = more & 32 ? BLK_WRITE : BLK_READ;
	unsigned i, pieces = 3 + more % 32 % 26;

	if (!r)
		return;
	fill(r, op, sector(op, more >> 6));
	for (i = 0; i < pieces; i++)
		add_piece(r, i * PIECE_STRIDE, SECTOR);
	send(port, &r, 1);
}

/* A flush, a request for the ID; or a place, a length or an operation that is none. */
void hostile_submit_odd(struct blk_port *port, unsigned more)
{
	static const struct {
		uint8_t op;
		uint16_t bytes;
		bool odd, past_end;
		uint64_t lba_512;
	} kinds[] = {
		{BLK_FLUSH, 0, false, false, 0},      {BLK_GET_ID, 20, false, false, 0},
		{BLK_READ, 1024, true, true, 0},      {BLK_READ, 512, true, false, UINT64_MAX - 7},
		{BLK_WRITE, 0, true, false, 8},	      {BLK_READ, 520, true, false, 8},
		{BLK_GET_ID + 4, 512, true, true, 0}, {BLK_GET_ID, 512, true, false, 0},
	};
	struct hostile_request *r = fresh(0);
	unsigned kind = more % 8;

	if (!r)
		return;
	fill(r, kinds[kind].op, kinds[kind].lba_512);
	r->odd = kinds[kind].odd;
	if (kinds[kind].past_end)
		r->req.lba_512 = rig.blk.capacity_512 - (more >> 3) % 2;
	if (kinds[kind].bytes)
		add_piece(r, 0, kinds[kind].bytes);
	send(port, &r, 1);
}

/* ---- Up ---- */

static bool data_right(const struct hostile_request *r)
{
	uint64_t lba_512 = r->req.lba_512;
	struct sgl_cursor cursor;
	struct sg piece;

	if (r->req.op == BLK_GET_ID)
		return memcmp(data_of(r), rig.disk.id, 20) == 0;
	if (r->req.op != BLK_READ)
		return true;
	sgl_cursor_init(&cursor, &r->req.sgl);
	for (; sgl_cursor_next(&cursor, SECTOR, &piece); lba_512++)
		if (!fake_stamp_ok((const void *)(uintptr_t)piece.addr, lba_512, 1))
			return false;
	return true;
}

/* Of an honest device: data are what they should be, and only what is late or wrong fails. */
static void judge(const struct hostile_request *r)
{
	switch (r->req.progress.status) {
	case BLK_OK:
		fuzz_check(!r->odd, "a wrong request succeeds");
		fuzz_check(data_right(r), "a read succeeds and its data are wrong");
		break;
	case BLK_TIMED_OUT:
	case BLK_DEVICE_GONE:
		fuzz_check(!hostile_in_time(), "a request of an honest device fails in time");
		break;
	case BLK_OUT_OF_RANGE:
		fuzz_check(r->odd, "a right request is out of range");
		break;
	case BLK_UNALIGNED:
	case BLK_UNSUPPORTED: /* pieces of 512 bytes and large blocks, and few segments */
		fuzz_check(r->odd || rig.shape.large_blocks, "a right request is refused");
		break;
	default:
		fuzz_check(false, "an honest device, and a status that it did not give");
	}
}

static void came_back(const struct blk_port *port, struct blk_request *req)
{
	struct hostile_request *r = (struct hostile_request *)(void *)req;

	fuzz_check(r >= rig.request && r < rig.request + HOSTILE_REQUESTS && r->out,
		   "a request came back that was not out");
	fuzz_check(r->port == port, "a request came back to another port");
	fuzz_check(req->progress.status < BLK_STATUS_COUNT, "a status that is none");
	if (hostile_honest())
		judge(r);
	forget(r);
	r->out = false;
	rig.nr_out--;
}

unsigned hostile_poll(struct blk_port *port)
{
	struct blk_request *done[HOSTILE_REQUESTS];
	unsigned i, n = blk_port_poll(port, done, HOSTILE_REQUESTS);

	fuzz_check(n <= rig.nr_out, "more came back than was sent");
	for (i = 0; i < n; i++)
		came_back(port, done[i]);
	return n;
}

void hostile_closed(void)
{
	unsigned i;

	for (i = 0; i < HOSTILE_REQUESTS; i++) {
		const struct blk_request *req = &rig.request[i].req;

		if (!rig.request[i].out)
			continue;
		fuzz_check(req->progress.status < BLK_STATUS_COUNT, "a status that is none");
		fuzz_check(req->progress.status != BLK_OK || req->op == BLK_FLUSH,
			   "closed, and a request in flight has succeeded");
		forget(&rig.request[i]);
		rig.nr_out--;
	}
}
