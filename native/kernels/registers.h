// The registers of the instruction set that a source is compiled for. CMakeLists.txt compiles the sources of the
// kernels once for each instruction set, with POCKETMT_INSTRUCTION_SET as its name and POCKETMT_REGISTERS as its file
// in registers/. AMX has the registers of AVX-512 VNNI, and no sources but those of tile_product/. Such a file
// defines the struct Registers, which adds to VectorRegisters (registers/vectors.h):
//
//   requirements                 what the processor must have
//   float_outputs, float_rows    outputs and rows of activations of a tile of the fp32 product
//   integer_rows                 rows of activations of a tile of the integer products
//   whole_panel_rows             tiles of more rows hold sums for half a panel, so that weights that must be prepared
//                                serve more rows
//   whole_decoded_panel_rows     the same of weights that are decoded: those of 6 bits and of lookup tables
//   expanding_rows               at least this many rows are multiplied by SignedWeights that were prepared first
//                                (integer_product/expanded.h); 0: never
//   expanding_six_bit_rows       the same of 6-bit weights
//   expanding_table_rows         the same of the product with a lookup table
//   row_lookup_rows              the same of the product with a lookup table for each row
//   expands_tables, batch_rows   see kernels.h
//   unrolls_rows                 whether loops over a tile's rows are unrolled, so that its sums stay in registers
//   parts_at_once                registers of weights that are multiplied by a row before the next row's turn, in tiles
//                                that hold sums for whole panels; other tiles take all of theirs at once
//   two_stream_rows              tiles of at most this many rows read two panels of weights at once: some processors
//                                read memory faster in two streams
//   reads_far_ahead              whether tiles ask for weights several pages ahead: those of large matrices
//                                (integer_product/tile.h), and in float32 those of several rows
//   few_rows_read_a_page_ahead() whether tiles of few rows ask for weights a page ahead in place of a step
//   two_chain_rows               tiles of at most this many rows have two sums for each output, one for each half of a
//                                step, to hide the latency of the multiplication
//   to_floats(integers)          32-bit integers, rounded to floats
//   positive(floats)             the positive values, and 0 instead of the others and of NaN
//   multiply_add(a, b, sums)     sums + a * b, in one rounding where the instruction set has it
//   repeat(bytes)                16 bytes, repeated in every 16 bytes of a register
//   look_up(table, indices)      table[index] of every 16 bytes; indices are from 0 to 15
//   sum_codes(codes, columns)    the sum of the codes, which are padded with zeros to a multiple of 64
//   add_up(sums [4])             the sum of each 4 neighbouring lanes: output 4 i + r is that of the lanes i of sums[r]
//   Step, load_step(codes)       8 activations, as the next function reads them
//   group_inputs<group>(step)    4 of them, repeated in every lane
//   sixteen_inputs(codes)        16 activations, repeated in every 16 bytes
//   SignedWeights, SixBitWeights a register of 8-bit weights, which are stored as weight + SignedWeights::zero, or of
//                                6-bit weights, which are stored as weight + 32, with
//     zero                       the offset that `add` multiplies too, or 0
//     first_sums(negative_sums, output, activation_sum)
//                                the correction to add to the sums of the outputs from `output` on, so that they become
//                                sum(weight * activation); negative_sums: see integer_product/panels.h
//     add(sums, inputs)          adds 4 products to each lane
//     InMemory                   optional: made of prepared weights, whose `add` reads a part of them from memory
//     add_two(sums, a, a_inputs, b, b_inputs)
//                                optional: `add` of two registers of weights at once, which is faster
//   AnyWeights                   the same for 8-bit weights that may be -128; only if SignedWeights may not
//   SymmetricWeights             optional: as SignedWeights, of weights from -127 to 127; faster for few rows
//     prepared(inputs)           what its `add` takes, made of group_inputs or sixteen_inputs
//   WeightsOfPrepared            optional: as SignedWeights, without an offset, made of the address of the weights, for
//                                activations that are prepared once for all weights, each as prepared_bytes bytes
//                                (integer_product/prepared_inputs.h); faster for more than whole_panel_rows and fewer
//                                than expanding_rows. With
//     prepare(codes, columns, prepared)
//                                writes them, and returns what first_sums takes as activation_sum; columns are a
//                                multiple of 64
//     load_prepared<group>(step) in place of group_inputs
//   SevenBitWeights              optional: as SignedWeights, of weights from -64 to 63; faster
//   WeightsOfNonNegative         optional: as SignedWeights, without an offset, for activations that are not negative
//   any_negative(codes, columns) whether an activation is negative; with WeightsOfNonNegative
//
//   RowPair, load_pair(a, b)     optional (integer_product/row_pairs.h): 8 activations of each of two rows
//     PairWeights(group0, group1)
//                                the weights of 4 outputs and 8 inputs, made of SignedWeights
//       of_outputs<0 or 1>(weights [4])
//                                the same, made of registers that each have 16 inputs of one output
//     PairSums                   add(pair, weights), of_row<0 or 1>(): the sums of a row
//
//   store_low_bytes(to, sixteen) the lowest byte of each of 16 lanes; may be left out
//   ByteSums                     sums of bytes in 16 bits: add(bytes), widen(sums [4])
//   fill_subset_sums(codes, table, high_offset)
//                                see binary_code_product/nibble_tables.h
//
// An instruction set that defines POCKETMT_LOOKS_UP_WORDS computes binary codes in another way (word_product.h), and
// needs neither of the last two.
#pragma once

#include POCKETMT_REGISTERS
