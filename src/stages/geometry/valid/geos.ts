import initGeos from "geos-wasm";

/** An address in the memory of GEOS; 0 is null. */
export type GeosPointer = number;

/** What is used of GEOS's C interface (geos_c.h), with numbers for pointers. */
interface GeosFunctions {
  GEOSWKBReader_create(): GeosPointer;
  GEOSWKBReader_setFixStructure(reader: GeosPointer, fix: number): void;
  GEOSWKBReader_read(reader: GeosPointer, bytes: GeosPointer, size: number): GeosPointer;
  GEOSWKBWriter_create(): GeosPointer;
  GEOSWKBWriter_setOutputDimension(writer: GeosPointer, dimension: number): void;
  GEOSWKBWriter_write(writer: GeosPointer, geometry: GeosPointer, size: GeosPointer): GeosPointer;
  GEOSMakeValidParams_create(): GeosPointer;
  GEOSMakeValidParams_setMethod(params: GeosPointer, method: number): number;
  GEOSMakeValidParams_setKeepCollapsed(params: GeosPointer, keep: number): number;
  GEOSMakeValidWithParams(geometry: GeosPointer, params: GeosPointer): GeosPointer;
  GEOSisValidDetail(geometry: GeosPointer, flags: number, reason: GeosPointer, location: GeosPointer): number;
  GEOSGeomGetX(geometry: GeosPointer, x: GeosPointer): number;
  GEOSGeomGetY(geometry: GeosPointer, y: GeosPointer): number;
  GEOSGeom_destroy(geometry: GeosPointer): void;
  GEOSFree(bytes: GeosPointer): void;
  readonly Module: {
    readonly HEAPU8: Uint8Array;
    _malloc(size: number): GeosPointer;
    _free(address: GeosPointer): void;
    UTF8ToString(address: GeosPointer): string;
  };
}

/** GEOS_MAKE_VALID_STRUCTURE: rings are made valid, shells united and holes cut out, so that overlaps stay area. */
const structureMakeValidMethod = 1;

/** GEOS in its own memory, with the few readers and writers that one thread needs. */
export class Geos {
  /** What GEOS said of its last failure. */
  lastError = "";
  private readonly reader: GeosPointer;
  private readonly writer: GeosPointer;
  private readonly params: GeosPointer;
  /** Room for what functions write through pointers: 32 bytes. */
  private readonly outPointer: GeosPointer;
  private inputPointer: GeosPointer = 0;
  private inputSize = 0;
  private readonly functions: GeosFunctions;

  private constructor(functions: GeosFunctions) {
    this.functions = functions;
    this.reader = functions.GEOSWKBReader_create();
    functions.GEOSWKBReader_setFixStructure(this.reader, 1);
    this.writer = functions.GEOSWKBWriter_create();
    functions.GEOSWKBWriter_setOutputDimension(this.writer, 3);
    this.params = functions.GEOSMakeValidParams_create();
    functions.GEOSMakeValidParams_setMethod(this.params, structureMakeValidMethod);
    functions.GEOSMakeValidParams_setKeepCollapsed(this.params, 1);
    this.outPointer = functions.Module._malloc(32);
  }

  static async load(): Promise<Geos> {
    let geos: Geos | undefined;
    // By default notices go to stdout, and errors are thrown through WebAssembly, which loses its stack each time.
    const functions = (await initGeos({
      noticeHandler: () => {},
      errorHandler: (message: string) => {
        if (geos) geos.lastError = message;
      },
    })) as unknown as GeosFunctions;
    geos = new Geos(functions);
    return geos;
  }

  private get view(): DataView {
    const { buffer } = this.functions.Module.HEAPU8;
    return new DataView(buffer);
  }

  /**
   * Makes a geometry from `size` bytes of WKB that `write` puts at an offset of the view. Unclosed rings are closed.
   * Gives 0 where the bytes are not a geometry.
   */
  parseWkb(size: number, write: (view: DataView, offset: number) => void): GeosPointer {
    if (size > this.inputSize) {
      this.functions.Module._free(this.inputPointer);
      this.inputSize = size * 2;
      this.inputPointer = this.functions.Module._malloc(this.inputSize);
    }
    write(this.view, this.inputPointer);
    return this.functions.GEOSWKBReader_read(this.reader, this.inputPointer, size);
  }

  /** Lets `use` read the geometry's WKB; the view is gone after. */
  withWkb<T>(geometry: GeosPointer, use: (view: DataView, offset: number) => T): T {
    const bytes = this.functions.GEOSWKBWriter_write(this.writer, geometry, this.outPointer);
    try {
      return use(this.view, bytes);
    } finally {
      this.functions.GEOSFree(bytes);
    }
  }

  /** Why the geometry is not valid by OGC 06-103r4, and where; null if it is valid. */
  describeInvalidity(geometry: GeosPointer): string | null {
    const { functions, outPointer } = this;
    const valid = functions.GEOSisValidDetail(geometry, 0, outPointer, outPointer + 4);
    if (valid === 1) return null;
    if (valid !== 0) return `validity cannot be decided: ${this.lastError}`;
    const reason = this.view.getUint32(outPointer, true);
    const location = this.view.getUint32(outPointer + 4, true);
    const text = functions.Module.UTF8ToString(reason);
    functions.GEOSFree(reason);
    if (location === 0) return text;
    functions.GEOSGeomGetX(location, outPointer + 8);
    functions.GEOSGeomGetY(location, outPointer + 16);
    functions.GEOSGeom_destroy(location);
    return `${text} at ${this.view.getFloat64(outPointer + 8, true)} ${this.view.getFloat64(outPointer + 16, true)}`;
  }

  /** A valid geometry of the same area or line, with what collapsed beside it; 0 where GEOS finds none. */
  makeValid(geometry: GeosPointer): GeosPointer {
    return this.functions.GEOSMakeValidWithParams(geometry, this.params);
  }

  destroy(geometry: GeosPointer): void {
    if (geometry !== 0) this.functions.GEOSGeom_destroy(geometry);
  }
}
