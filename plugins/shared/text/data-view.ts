export const dataViewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** The view of the bytes that were looked at last, for what looks at the same ones again and again. */
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
