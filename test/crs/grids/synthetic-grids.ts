import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { promisify } from "node:util";

/** A rectangle of nodes in degrees, as a test wants it. */
export interface SyntheticPart {
  readonly name: string;
  readonly parent?: string;
  readonly west: number;
  readonly south: number;
  readonly columns: number;
  readonly rows: number;
  readonly step: number;
  /** Makes its shifts differ from those of the part around it. */
  readonly bias?: number;
  /** In place of `shiftAt`. */
  readonly shift?: typeof shiftAt;
}

/** Arc-seconds, east and north: smooth, and so bent that a linear function would be centimetres off. */
export function shiftAt(longitude: number, latitude: number, bias = 0): readonly [east: number, north: number] {
  const u = (longitude * Math.PI) / 180;
  const v = (latitude * Math.PI) / 180;
  return [1.7 + bias + 2.1 * Math.sin(5 * u) * Math.cos(3 * v), -0.4 - bias + 0.9 * Math.cos(4 * u + v)];
}

/** Of every node, rows from the south, columns from the west. */
function* nodes({ west, south, columns, rows, step, bias, shift = shiftAt }: SyntheticPart) {
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++)
      yield { row, column, shift: shift(west + column * step, south + row * step, bias) };
  }
}

export interface Ntv2Options {
  readonly bigEndian?: boolean;
  readonly unit?: "SECONDS" | "MINUTES" | "DEGREES";
}

/** A binary NTv2 file, byte by byte as its guide has it. */
export function ntv2(
  parts: readonly SyntheticPart[],
  { bigEndian = false, unit = "SECONDS" }: Ntv2Options = {},
): Buffer {
  const perDegree = { SECONDS: 3600, MINUTES: 60, DEGREES: 1 }[unit];
  const little = !bigEndian;
  const size = parts.reduce((sum, { columns, rows }) => sum + 176 + 16 * columns * rows, 176 + 16);
  const buffer = Buffer.alloc(size);
  const view = new DataView(buffer.buffer, buffer.byteOffset, size);
  let at = 0;
  const record = (name: string, value: string | number, kind: "text" | "whole" | "real" = "text") => {
    buffer.write(name.padEnd(8), at, "latin1");
    if (kind === "text") buffer.write(String(value).padEnd(8), at + 8, "latin1");
    else if (kind === "whole") view.setInt32(at + 8, value as number, little);
    else view.setFloat64(at + 8, value as number, little);
    at += 16;
  };
  record("NUM_OREC", 11, "whole");
  record("NUM_SREC", 11, "whole");
  record("NUM_FILE", parts.length, "whole");
  record("GS_TYPE", unit);
  record("VERSION", "TEST");
  record("SYSTEM_F", "OLD");
  record("SYSTEM_T", "NEW");
  record("MAJOR_F", 6378206.4, "real");
  record("MINOR_F", 6356583.8, "real");
  record("MAJOR_T", 6378137, "real");
  record("MINOR_T", 6356752.314, "real");
  for (const part of parts) {
    const { name, parent = "NONE", west, south, columns, rows, step } = part;
    record("SUB_NAME", name);
    record("PARENT", parent);
    record("CREATED", "20260101");
    record("UPDATED", "20260101");
    record("S_LAT", south * perDegree, "real");
    record("N_LAT", (south + (rows - 1) * step) * perDegree, "real");
    record("E_LONG", -(west + (columns - 1) * step) * perDegree, "real");
    record("W_LONG", -west * perDegree, "real");
    record("LAT_INC", step * perDegree, "real");
    record("LONG_INC", step * perDegree, "real");
    record("GS_COUNT", columns * rows, "whole");
    for (const { row, column, shift } of nodes(part)) {
      const node = at + 16 * (row * columns + columns - 1 - column);
      view.setFloat32(node, (shift[1] / 3600) * perDegree, little);
      view.setFloat32(node + 4, (-shift[0] / 3600) * perDegree, little);
      view.setFloat32(node + 8, 0.1, little);
      view.setFloat32(node + 12, 0.1, little);
    }
    at += 16 * columns * rows;
  }
  record("END", "");
  return buffer;
}

export interface GeoTiffOptions {
  /** Options of GDAL's GTiff driver: `COMPRESS=LZW` … */
  readonly creation?: readonly string[];
  readonly type?: "Float32" | "Float64" | "Int16";
  readonly unit?: "arc-second" | "degree" | "radian";
  readonly positive?: "east" | "west";
  /** What a stored number is multiplied by, and what is added to it. */
  readonly scale?: number;
  readonly offset?: number;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly noData?: number;
  /** With a third number a node, metres of height. */
  readonly heights?: boolean;
}

const bytes = { Float32: 4, Float64: 8, Int16: 2 } as const;
const perSecond = { "arc-second": 1, degree: 1 / 3600, radian: Math.PI / 648000 } as const;

/** GDAL writes the GeoTIFF, from raw numbers that a VRT describes: an image for each part. */
export async function writeGeoTiff(
  path: string,
  parts: readonly SyntheticPart[],
  options: GeoTiffOptions = {},
): Promise<void> {
  for (const [index, part] of parts.entries()) {
    const raw = `${path}.${index}.raw`;
    const vrt = `${path}.${index}.vrt`;
    await writeFile(raw, rawNumbers(part, options));
    await writeFile(vrt, vrtOf(part, raw, options));
    const creation = [...(options.creation ?? []), ...(index > 0 ? ["APPEND_SUBDATASET=YES"] : [])];
    const args = ["-q", "-of", "GTiff", ...creation.flatMap((option) => ["-co", option]), vrt, path];
    await promisify(execFile)("gdal_translate", args, { env: { ...process.env, GDAL_PAM_ENABLED: "NO" } });
    await Promise.all([rm(raw), rm(vrt)]);
  }
}

/** Latitudes, then longitudes; rows from the north. */
function rawNumbers(part: SyntheticPart, { type = "Float32", ...options }: GeoTiffOptions): Buffer {
  const { unit = "arc-second", positive = "east", scale = 1, offset = 0, heights = false } = options;
  const { columns, rows } = part;
  const buffer = Buffer.alloc((heights ? 3 : 2) * columns * rows * bytes[type]);
  const put = (index: number, seconds: number) => {
    const value = (seconds * perSecond[unit] - offset) / scale;
    const at = index * bytes[type];
    if (type === "Float32") buffer.writeFloatLE(value, at);
    else if (type === "Float64") buffer.writeDoubleLE(value, at);
    else buffer.writeInt16LE(Math.round(value), at);
  };
  for (const { row, column, shift } of nodes(part)) {
    const index = (rows - 1 - row) * columns + column;
    put(index, shift[1]);
    put(columns * rows + index, positive === "east" ? shift[0] : -shift[0]);
  }
  return buffer;
}

function vrtOf(part: SyntheticPart, raw: string, options: GeoTiffOptions): string {
  const { type = "Float32", unit = "arc-second", positive = "east", scale, offset, metadata = {}, noData } = options;
  const { name, parent, west, south, columns, rows, step } = part;
  const north = south + (rows - 1) * step;
  const items = { TYPE: "HORIZONTAL_OFFSET", AREA_OR_POINT: "Point", grid_name: name, ...metadata };
  const all = Object.entries(parent === undefined ? items : { ...items, parent_grid_name: parent });
  const band = (index: number, description: string, measure: string = unit) => `
  <VRTRasterBand dataType="${type}" band="${index}" subClass="VRTRawRasterBand">
    <Description>${description}</Description>
    <UnitType>${measure}</UnitType>
    ${scale === undefined ? "" : `<Scale>${scale}</Scale>`}${offset === undefined ? "" : `<Offset>${offset}</Offset>`}
    ${noData === undefined ? "" : `<NoDataValue>${noData}</NoDataValue>`}
    ${index === 2 ? `<Metadata><MDI key="positive_value">${positive}</MDI></Metadata>` : ""}
    <SourceFilename relativeToVRT="0">${raw}</SourceFilename>
    <ImageOffset>${(index - 1) * columns * rows * bytes[type]}</ImageOffset>
    <PixelOffset>${bytes[type]}</PixelOffset>
    <LineOffset>${columns * bytes[type]}</LineOffset>
    <ByteOrder>LSB</ByteOrder>
  </VRTRasterBand>`;
  return `<VRTDataset rasterXSize="${columns}" rasterYSize="${rows}">
  <SRS>EPSG:${options.heights ? 4957 : 4267}</SRS>
  <GeoTransform>${west - step / 2}, ${step}, 0, ${north + step / 2}, 0, ${-step}</GeoTransform>
  <Metadata>${all.map(([key, value]) => `<MDI key="${key}">${value}</MDI>`).join("")}</Metadata>
  ${band(1, "latitude_offset")}${band(2, "longitude_offset")}${options.heights ? band(3, "ellipsoidal_height_offset", "metre") : ""}
</VRTDataset>`;
}
