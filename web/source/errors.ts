/** Base class of this package's errors. */
export class PocketMTError extends Error {
  override name = "PocketMTError";
}

/** A model file that is broken, damaged or of a later version. */
export class ModelFileError extends PocketMTError {
  override name = "ModelFileError";
}

/** An argument that is out of range, or something that the host lacks. */
export class EngineError extends PocketMTError {
  override name = "EngineError";
}

/** A download that failed. */
export class DownloadError extends PocketMTError {
  override name = "DownloadError";
}

/** A translation or a download that was cancelled. */
export class CancelledError extends PocketMTError {
  override name = "CancelledError";
}
