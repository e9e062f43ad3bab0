/** A complete file on disk that does not have its final name yet. */
export interface StagedFile {
  readonly path: string;
  readonly finalPath: string;
  /** Identifies the version of an object in a bucket; absent for local files. */
  readonly stamp?: string;
}
