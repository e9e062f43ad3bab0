export const dataViewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** Caches the view of the last bytes, for callers that use the same bytes repeatedly. */
export class DataViewCache {
  private bytes: Uint8Array = new Uint8Array();
  private view = dataViewOf(this.bytes);

  of(bytes: Uint8Array): DataView {
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = dataViewOf(bytes);
    }
    return this.view;
  }
}
