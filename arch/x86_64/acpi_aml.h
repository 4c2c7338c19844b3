/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be read from the DSDT without an interpreter? Objects that are plain constants. */
#ifndef ARCH_X86_64_ACPI_AML_H
#define ARCH_X86_64_ACPI_AML_H

#include <stdbool.h>
#include <stdint.h>

struct aml {
	const uint8_t *at, *end; /* what is left to read */
};

/*
 * The first object called @name (four characters) that the DSDT defines by NameOp or by a short
 * MethodOp, from just after the name on. False if there is no DSDT or no such object.
 */
bool aml_find(const char *name, struct aml *aml);
/* Takes one byte that has to be @byte. */
bool aml_expect(struct aml *aml, uint8_t byte);
/* Takes an integer constant, ACPI 6.4, 20.2.3. */
bool aml_integer(struct aml *aml, uint64_t *value);
/* Takes PackageOp, its length and its number of elements, ACPI 6.4, 20.2.5.4. */
bool aml_package(struct aml *aml, unsigned *elements);

#endif
