/** Thrown for text or a blob that is not a geometry, with the reason and the offset. */
export class GeometryParseError extends Error {
  constructor(
    reason: string,
    readonly offset: number,
  ) {
    super(reason);
  }
}
