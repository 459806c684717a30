/* SPDX-License-Identifier: MIT */
/* mpi.h. Processes without MPI load this library, too: all that it uses of MPI may be absent. */
#ifndef RP_FT_MPI_H
#define RP_FT_MPI_H

#include <mpi.h>

#pragma weak ompi_message_no_proc
#pragma weak ompi_message_null
#pragma weak ompi_mpi_2int
#pragma weak ompi_mpi_byte
#pragma weak ompi_mpi_c_double_complex
#pragma weak ompi_mpi_c_float_complex
#pragma weak ompi_mpi_char
#pragma weak ompi_mpi_comm_null
#pragma weak ompi_mpi_comm_self
#pragma weak ompi_mpi_comm_world
#pragma weak ompi_mpi_datatype_null
#pragma weak ompi_mpi_double
#pragma weak ompi_mpi_errors_are_fatal
#pragma weak ompi_mpi_errors_return
#pragma weak ompi_mpi_float
#pragma weak ompi_mpi_group_empty
#pragma weak ompi_mpi_group_null
#pragma weak ompi_mpi_info_null
#pragma weak ompi_mpi_int
#pragma weak ompi_mpi_int16_t
#pragma weak ompi_mpi_int32_t
#pragma weak ompi_mpi_int64_t
#pragma weak ompi_mpi_int8_t
#pragma weak ompi_mpi_op_max
#pragma weak ompi_mpi_op_maxloc
#pragma weak ompi_mpi_op_min
#pragma weak ompi_mpi_op_minloc
#pragma weak ompi_mpi_op_no_op
#pragma weak ompi_mpi_op_null
#pragma weak ompi_mpi_op_replace
#pragma weak ompi_mpi_op_sum
#pragma weak ompi_mpi_uint64_t
#pragma weak ompi_request_null

#endif
