/* SPDX-License-Identifier: BSD-2-Clause */
/* Where in the DSDT's byte code is a constant, and what is its value? */
#include "arch/x86_64/acpi_aml.h"

#include "arch/x86_64/acpi.h"
#include "lib/mem.h"

#define FADT_DSDT   40
#define FADT_X_DSDT 140

enum {
	AML_ZERO = 0x00,
	AML_ONE = 0x01,
	AML_NAME = 0x08,
	AML_BYTE_PREFIX = 0x0a,
	AML_WORD_PREFIX = 0x0b,
	AML_DWORD_PREFIX = 0x0c,
	AML_QWORD_PREFIX = 0x0e,
	AML_PACKAGE = 0x12,
	AML_METHOD = 0x14,
};

static const struct acpi_header *find_dsdt(void)
{
	const struct acpi_header *fadt = acpi_find("FACP");
	uint64_t phys;

	if (!fadt)
		return NULL;
	phys = acpi_field(fadt, FADT_X_DSDT, 8);
	if (!phys)
		phys = acpi_field(fadt, FADT_DSDT, 4);
	return phys ? acpi_table_at(phys, "DSDT") : NULL;
}

/* @name has two bytes of byte code before it at least. */
static bool is_definition(const uint8_t *name)
{
	return name[-1] == AML_NAME || (name[-1] == '\\' && name[-2] == AML_NAME) ||
	       name[-2] == AML_METHOD;
}

bool aml_find(const char *name, struct aml *aml)
{
	const struct acpi_header *dsdt = find_dsdt();
	const uint8_t *at;

	if (!dsdt)
		return false;
	aml->end = (const uint8_t *)dsdt + dsdt->length;
	for (at = (const uint8_t *)(dsdt + 1) + 2; at + 4 <= aml->end; at++)
		if (at[0] == (uint8_t)name[0] && memcmp(at, name, 4) == 0 && is_definition(at)) {
			aml->at = at + 4;
			return true;
		}
	return false;
}

bool aml_expect(struct aml *aml, uint8_t byte)
{
	return aml->at < aml->end && *aml->at++ == byte;
}

static unsigned constant_bytes(uint8_t prefix)
{
	switch (prefix) {
	case AML_BYTE_PREFIX:
		return 1;
	case AML_WORD_PREFIX:
		return 2;
	case AML_DWORD_PREFIX:
		return 4;
	case AML_QWORD_PREFIX:
		return 8;
	default:
		return 0;
	}
}

bool aml_integer(struct aml *aml, uint64_t *value)
{
	unsigned bytes;

	if (aml->at >= aml->end)
		return false;
	if (*aml->at == AML_ZERO || *aml->at == AML_ONE) {
		*value = *aml->at++;
		return true;
	}
	bytes = constant_bytes(*aml->at++);
	if (!bytes || (uint64_t)(aml->end - aml->at) < bytes)
		return false;
	*value = 0;
	memcpy(value, aml->at, bytes);
	aml->at += bytes;
	return true;
}

/* The top two bits of a length's first byte tell how many bytes follow it. */
bool aml_package(struct aml *aml, unsigned *elements)
{
	unsigned length_bytes;

	if (!aml_expect(aml, AML_PACKAGE) || aml->at >= aml->end)
		return false;
	length_bytes = 1 + (*aml->at >> 6);
	if ((uint64_t)(aml->end - aml->at) <= length_bytes)
		return false;
	aml->at += length_bytes;
	*elements = *aml->at++;
	return true;
}
