/** Types that programs see, without those of browsers: the declarations compile in programs for Node, too. */

/** Options of the search for a translation. */
export interface SearchOptions {
  /** Hypotheses kept at each step (default 4), from 1, which is greedy search, to 256 or fewer if the vocabulary is small. */
  beamSize?: number;
  /** Exponent of the length by which log-probabilities are divided, from -10 to 10 (default 1). */
  lengthPenalty?: number;
  /** Most target pieces of a sentence (default: 2 x source pieces + 20). */
  maxLength?: number;
  /** Whether to use the model's shortlist, if it has one (default true). */
  shortlist?: boolean;
  /** Most sentences computed together (default: as many as the engine finds best). A worker that is told to stop ends its batch first. */
  batchSize?: number;
  /** Codes, for a model of several languages. A line may name its target language itself, if the model's sources do. */
  sourceLanguage?: string;
  targetLanguage?: string;
}

/** A `WebAssembly.Module`, whose type, without members, only browsers' declarations have. */
export type CompiledModule = object;

/** What a model says of itself, and how it runs. */
export interface ModelInfo {
  readonly sourceLanguages: readonly string[];
  readonly targetLanguages: readonly string[];
  readonly description: string;
  readonly licence: string;
  /** SHA-256 that the file states of itself. */
  readonly digest: string;
  readonly fileBytes: number;
  readonly instructionSet: string;
  /** Bytes of the engine's memory. */
  readonly memoryBytes: number;
}
