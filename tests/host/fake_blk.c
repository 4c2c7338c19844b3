/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a buffer a right block request, and what does the disk answer? (5.2.6) */
#include <stdlib.h>
#include <string.h>

#include "tests/host/fake_inside.h"

enum { T_IN = 0, T_OUT = 1, T_FLUSH = 4, T_GET_ID = 8 };
enum { S_OK = 0, S_UNSUPP = 2 };
#define SECTOR	     512u
#define HEADER_BYTES 16u
#define BLOCK_MAX    (16u << 20) /* a driver may take more for a mistake (F-063) */

static bool has(const struct fake_disk *disk, unsigned feature)
{
	return disk->accepted >> feature & 1;
}

/* ---- The data of each sector ---- */

void fake_stamp(void *data, uint64_t sector, uint32_t sectors)
{
	uint64_t word[SECTOR / 8], i;
	uint8_t *at = data;

	for (; sectors > 0; sectors--, sector++, at += SECTOR) {
		for (i = 0; i < SECTOR / 8; i++)
			word[i] = sector ^ i << 56;
		memcpy(at, word, SECTOR);
	}
}

bool fake_stamp_ok(const void *data, uint64_t sector, uint32_t sectors)
{
	const uint8_t *at = data;
	uint8_t right[SECTOR];

	for (; sectors > 0; sectors--, sector++, at += SECTOR) {
		fake_stamp(right, sector, 1);
		if (memcmp(at, right, SECTOR))
			return false;
	}
	return true;
}

static void load(const struct fake_disk *disk, uint64_t sector, uint8_t *data)
{
	if (sector < FAKE_STORE && disk->stored && disk->stored[sector])
		memcpy(data, disk->store + sector * SECTOR, SECTOR);
	else
		fake_stamp(data, sector, 1);
}

static void save(struct fake_disk *disk, uint64_t sector, const uint8_t *data)
{
	if (sector >= FAKE_STORE)
		return;
	if (!disk->store)
		disk->store = malloc((size_t)FAKE_STORE * SECTOR);
	if (!disk->stored)
		disk->stored = calloc(FAKE_STORE, 1);
	if (!disk->store || !disk->stored)
		abort();
	memcpy(disk->store + sector * SECTOR, data, SECTOR);
	disk->stored[sector] = 1;
}

/* ---- Any framing is allowed (2.7.4): a buffer is two runs of bytes, readable and writable ---- */

static uint32_t total(const struct fake_chain *chain, bool write)
{
	uint32_t sum = 0;
	unsigned i;

	for (i = 0; i < chain->nr_segs; i++)
		sum += chain->seg[i].write == write ? chain->seg[i].len : 0;
	return sum;
}

static void copy(const struct fake_chain *chain, bool write, uint32_t offset, void *data,
		 uint32_t bytes)
{
	uint8_t *at = data;
	unsigned i;

	for (i = 0; i < chain->nr_segs && bytes > 0; i++) {
		const struct fake_seg *seg = &chain->seg[i];
		uint32_t n = seg->len - offset < bytes ? seg->len - offset : bytes;
		uint8_t *memory = (uint8_t *)(uintptr_t)seg->addr + offset;

		if (seg->write != write)
			continue;
		if (offset >= seg->len) {
			offset -= seg->len;
			continue;
		}
		if (write)
			memcpy(memory, at, n);
		else
			memcpy(at, memory, n);
		offset = 0;
		at += n;
		bytes -= n;
	}
}

static struct fake_request parse(const struct fake_chain *chain)
{
	struct fake_request request = {0};
	uint32_t header[4] = {0}, at = 0, readable = total(chain, false);
	unsigned i;

	copy(chain, false, 0, header, readable < HEADER_BYTES ? readable : HEADER_BYTES);
	request.type = header[0];
	memcpy(&request.sector, &header[2], 8);
	if (header[1])
		fake_violate("BLK-OP-18: reserved field of the header is %#x", header[1]);
	if (readable > HEADER_BYTES)
		request.bytes = readable - HEADER_BYTES;
	else if (total(chain, true) > 0)
		request.bytes = total(chain, true) - 1;
	for (i = 0; i < chain->nr_segs; i++) {
		at += chain->seg[i].len;
		if (readable > HEADER_BYTES
			    ? !chain->seg[i].write && at > HEADER_BYTES
			    : chain->seg[i].write &&
				      at - chain->seg[i].len - readable < request.bytes)
			request.data_segs++;
	}
	request.queue = chain->queue;
	request.descs = chain->nr_segs;
	request.indirect = chain->indirect;
	return request;
}

/* ---- Rules ---- */

static void check_limits(const struct fake_disk *disk, const struct fake_chain *chain,
			 const struct fake_request *request)
{
	unsigned i;

	if (has(disk, FAKE_SEG_MAX) && request->data_segs > (disk->seg_max ? disk->seg_max : 1))
		fake_violate("BLK-INIT-10: %u data segments, seg_max %u", request->data_segs,
			     disk->seg_max);
	for (i = 0; has(disk, FAKE_SIZE_MAX) && i < chain->nr_segs; i++)
		if (chain->seg[i].len > HEADER_BYTES && chain->seg[i].len > disk->size_max)
			fake_violate("BLK-INIT-09: segment of %u bytes, size_max %u",
				     chain->seg[i].len, disk->size_max);
}

static void check_range(const struct fake_disk *disk, const struct fake_request *request)
{
	uint64_t sectors = request->bytes / SECTOR;
	uint32_t block = has(disk, FAKE_BLK_SIZE) ? disk->blk_size : SECTOR;

	if (request->bytes == 0 || request->bytes % SECTOR)
		fake_violate("BLK-OP-06: %u bytes of data", request->bytes);
	if (request->sector > disk->capacity || sectors > disk->capacity - request->sector)
		fake_violate("BLK-OP-02: sectors %llu+%llu of %llu",
			     (unsigned long long)request->sector, (unsigned long long)sectors,
			     (unsigned long long)disk->capacity);
	if (block > SECTOR && block <= BLOCK_MAX && (block & (block - 1)) == 0 &&
	    (request->bytes % block || request->sector * SECTOR % block))
		fake_violate("F-097: %u bytes at sector %llu, block size %u", request->bytes,
			     (unsigned long long)request->sector, block);
}

static void check_type(struct fake_disk *disk, const struct fake_chain *chain,
		       const struct fake_request *request)
{
	bool in = request->type == T_IN || request->type == T_GET_ID;

	if (in ? total(chain, false) != HEADER_BYTES : total(chain, true) != 1)
		fake_violate("BLK-OP-17: type %u with %u readable and %u writable bytes",
			     request->type, total(chain, false), total(chain, true));
	if (request->type > T_OUT && request->sector != 0)
		fake_violate("%s: type %u with sector %llu",
			     request->type == T_FLUSH ? "BLK-OP-04" : "BLK-OP-18", request->type,
			     (unsigned long long)request->sector);
	switch (request->type) {
	case T_OUT:
		if (disk->features >> FAKE_RO & 1)
			fake_violate("BLK-INIT-08: write to a read-only disk");
		__attribute__((fallthrough));
	case T_IN:
		check_range(disk, request);
		break;
	case T_FLUSH:
		if (!has(disk, FAKE_FLUSH))
			fake_violate("BLK-OP-24: flush without FLUSH");
		if (request->bytes)
			fake_violate("BLK-OP-05: flush with %u bytes of data", request->bytes);
		disk->flush_races += disk->writes_out > 0;
		break;
	case T_GET_ID:
		if (request->bytes != 20)
			fake_violate("BLK-OP-08: GET_ID of %u bytes", request->bytes);
		break;
	default:
		fake_violate("BLK-OP-24: request type %u", request->type);
	}
}

void fake_blk_take(struct fake_disk *disk, struct fake_chain *chain)
{
	struct fake_request request;
	uint8_t *status;

	if (fake_violation() || chain->bad)
		return; /* the addresses may be wild */
	if (total(chain, false) < HEADER_BYTES || total(chain, true) < 1) {
		fake_violate("BLK-OP-17: %u readable and %u writable bytes", total(chain, false),
			     total(chain, true));
		chain->bad = true;
		return;
	}
	request = parse(chain);
	fake_legacy_framing(disk, chain);
	check_limits(disk, chain, &request);
	check_type(disk, chain, &request);
	status = (uint8_t *)(uintptr_t)chain->seg[chain->nr_segs - 1].addr +
		 chain->seg[chain->nr_segs - 1].len - 1;
	if (*status == S_OK)
		fake_violate("RING-SPLIT-19: the status byte was not preset to a sentinel");
	chain->write = request.type == T_OUT;
	disk->writes_out += chain->write;
	disk->log[disk->nr_requests++ % (sizeof(disk->log) / sizeof(disk->log[0]))] = request;
	disk->nr_indirect += chain->indirect;
	if (chain->nr_segs > disk->max_descs)
		disk->max_descs = chain->nr_segs;
	if (request.data_segs > disk->max_data_segs)
		disk->max_data_segs = request.data_segs;
}

const struct fake_request *fake_last(const struct fake_disk *disk)
{
	return &disk->log[(disk->nr_requests - 1) % (sizeof(disk->log) / sizeof(disk->log[0]))];
}

/* ---- Answers ---- */

static void transfer(struct fake_disk *disk, const struct fake_chain *chain,
		     const struct fake_request *request, uint32_t bytes)
{
	uint8_t sector[SECTOR];
	uint32_t at;

	if (request->type == T_GET_ID)
		copy(chain, true, 0, disk->id, bytes);
	for (at = 0; request->type <= T_OUT && at < bytes; at += SECTOR) {
		uint32_t n = bytes - at < SECTOR ? bytes - at : SECTOR;

		if (request->type == T_IN) {
			load(disk, request->sector + at / SECTOR, sector);
			copy(chain, true, at, sector, n);
		} else {
			copy(chain, false, HEADER_BYTES + at, sector, n);
			save(disk, request->sector + at / SECTOR, sector);
		}
	}
}

/* A driver may take back what a hostile device said to be used. */
static bool in_memory(const struct fake_chain *chain)
{
	unsigned i;

	for (i = 0; i < chain->nr_segs && !chain->bad; i++)
		if (!host_dma_ok(chain->seg[i].addr, chain->seg[i].len))
			return false;
	return !chain->bad;
}

/* Returns the used length: what was written to the buffer, counted from its writable start. */
uint32_t fake_blk_run(struct fake_disk *disk, const struct fake_chain *chain, enum fake_lie lie)
{
	uint8_t status = lie == FAKE_STATUS ? (uint8_t)disk->lie_value : S_OK;
	struct fake_request request;
	uint32_t bytes, writable = total(chain, true);

	if (disk->hostile && !in_memory(chain))
		return 0;
	request = parse(chain);
	bytes = request.bytes;

	disk->writes_out -= chain->write && disk->writes_out > 0;
	if (lie == FAKE_SHORT)
		bytes = disk->lie_value < bytes ? disk->lie_value : bytes;
	if (status == S_OK)
		transfer(disk, chain, &request, bytes);
	if (lie == FAKE_SHORT)
		return request.type == T_OUT ? 0 : bytes;
	if (lie != FAKE_NO_STATUS)
		copy(chain, true, writable - 1, &status, 1);
	return status == S_OK ? writable : 1;
}
