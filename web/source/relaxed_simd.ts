/** Whether this host's relaxed SIMD can be used. */

// (module (func (export "f") (param i32 i32 i32) (result i32)
//   local.get 0 i32x4.splat local.get 1 i32x4.splat local.get 2 i32x4.splat
//   i32x4.relaxed_dot_i8x16_i7x16_add_s i32x4.extract_lane 0))
const PROBE = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 127, 127, 127, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 22, 1, 20,
  0, 32, 0, 253, 17, 32, 1, 253, 17, 32, 2, 253, 17, 253, 147, 2, 253, 27, 0, 11,
);
// Activations -112, -2, -41 and -90 by codes 109, 7, 88 and 112, and a sum before.
const ACTIVATIONS = 0xa6d7fe90 | 0;
const CODES = 0x7058076d;
const BEFORE = 392;
const EXPECTED = 392 - 112 * 109 - 2 * 7 - 41 * 88 - 90 * 112;

/**
 * Whether the dot product of bytes exists and is right. V8 11.3 (Node 20) has it behind a flag, and its baseline compiler
 * computes other sums than its optimizing one.
 */
export function hasRelaxedSimd(): boolean {
  if (!WebAssembly.validate(PROBE)) return false;
  const probe = new WebAssembly.Instance(new WebAssembly.Module(PROBE)).exports as {
    f(activations: number, codes: number, before: number): number;
  };
  return probe.f(ACTIVATIONS, CODES, BEFORE) === EXPECTED;
}
