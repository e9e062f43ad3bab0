/** Why a text or a blob is no geometry, and where in it. */
export class GeometryParseError extends Error {
  constructor(
    reason: string,
    readonly offset: number,
  ) {
    super(reason);
  }
}
