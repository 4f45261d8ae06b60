/** What a translator and its worker send each other. */
import type { ModelInfo, SearchOptions } from "./public_types.js";

/** Bytes of a download so far, and in all if the server says so. */
export interface Progress {
  readonly loadedBytes: number;
  readonly totalBytes: number | undefined;
}

export type ToWorker =
  | { readonly kind: "load"; readonly id: number; readonly url: string; readonly cache: boolean; readonly digest: string | undefined }
  | { readonly kind: "translate"; readonly id: number; readonly lines: readonly string[]; readonly options: SearchOptions }
  | { readonly kind: "cancel"; readonly id: number };

export type FromWorker =
  | { readonly kind: "progress"; readonly id: number; readonly progress: Progress }
  | { readonly kind: "loaded"; readonly id: number; readonly info: ModelInfo }
  | {
      readonly kind: "translated";
      readonly id: number;
      readonly lines: readonly string[];
      /** How long it took, once its turn came. */
      readonly milliseconds: number;
      readonly info: ModelInfo;
    }
  | { readonly kind: "failed"; readonly id: number; readonly name: string; readonly message: string };
