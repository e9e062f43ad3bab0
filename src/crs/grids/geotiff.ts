import {
  allocateSharedValues,
  findPlacementProblem,
  type Grid,
  maxNodes,
  maxParts,
  nestParts,
  type UnnestedPart,
} from "./grid.js";
import type { GridFileReader } from "./grid-file-reader.js";
import { type Raster, readRaster, readSamples, readTiff, type TiffDirectory, tiffTags } from "./tiff.js";

const radiansPerDegree = Math.PI / 180;

/** Types with shifts of longitude and latitude; shifts of heights are ignored. */
const supportedTypes: ReadonlySet<string> = new Set(["HORIZONTAL_OFFSET", "GEOGRAPHIC_3D_OFFSET"]);

/** Arc-seconds in a unit of a shift. */
const arcSecondsPerUnit: Readonly<Record<string, number>> = {
  "arc-second": 1,
  radian: 648000 / Math.PI,
  degree: 3600,
};

/** GDAL metadata of an image and its samples. */
interface GdalMetadata {
  readonly items: ReadonlyMap<string, string>;
  /** Returns an item of the image or of a sample. */
  getItem(name: string, sample?: number): string;
}

/** The samples with shifts. A part inherits what it does not declare from the previous part. */
interface ShiftSamples {
  readonly latitudeSample: number;
  readonly longitudeSample: number;
  /** Arc-seconds per unit; the sign makes longitudes positive east. */
  readonly latitudeUnit: number;
  readonly longitudeUnit: number;
}

/** An image of the file with its parsed metadata. */
interface GridImage extends UnnestedPart {
  readonly raster: Raster;
  readonly shifts: ShiftSamples;
  readonly metadata: GdalMetadata;
  readonly noData: number;
  /** Whether the first row is the southernmost. */
  readonly bottomUp: boolean;
}

/**
 * Reads a grid as PROJ publishes them: GeoTIFF of `TYPE=HORIZONTAL_OFFSET`, and for NADCON 5 of
 * `GEOGRAPHIC_3D_OFFSET` (PROJ, "Geodetic TIFF grids (GTG)").
 * @throws grid-invalid
 */
export async function readGeoTiff(file: GridFileReader): Promise<Grid> {
  const { directories, isLittleEndian } = await readTiff(file, maxParts);
  const images: GridImage[] = [];
  let offset = 0;
  for (const directory of directories) {
    const image = readImage(file, directory, images.at(-1) ?? null, offset);
    if (image === null) continue;
    images.push(image);
    offset += 2 * image.columns * image.rows;
    if (offset > 2 * maxNodes) throw file.createInvalidGridError(`it has more than ${maxNodes} nodes`);
  }
  if (images.length === 0) throw file.createInvalidGridError("it has no image with shifts of longitude and latitude");
  const values = allocateSharedValues(offset / 2);
  for (const image of images) await readNodes(file, image, values, isLittleEndian);
  const parts = images.map(
    ({ raster: _, shifts: _s, metadata: _m, noData: _n, bottomUp: _b, ...part }): UnnestedPart => part,
  );
  return nestParts(file.name, values, parts, true, (reason) => file.createInvalidGridError(reason));
}

/** Null for an image without shifts, such as thumbnails and accuracies. */
function readImage(
  file: GridFileReader,
  directory: TiffDirectory,
  before: GridImage | null,
  offset: number,
): GridImage | null {
  if (![0, 2].includes(directory.getNumber(tiffTags.subfileType, 0))) return null;
  const metadata = readMetadata(directory.getText(tiffTags.gdalMetadata));
  const shifts = readShiftSamples(file, directory, metadata, before);
  if (shifts === null) return null;
  const placed = readExtent(file, directory);
  const name = metadata.getItem("grid_name");
  const wrong = findPlacementProblem(placed);
  if (wrong !== null) throw file.createInvalidGridError(`its part "${name}" is invalid: ${wrong}`);
  const raster = readRaster(file, directory);
  if (shifts.latitudeSample >= raster.samplesPerPixel || shifts.longitudeSample >= raster.samplesPerPixel)
    throw file.createInvalidGridError(
      `it has ${raster.samplesPerPixel} values a node, and shifts of longitude and latitude are two`,
    );
  const noData = directory.has(tiffTags.gdalNoData) ? Number(directory.getText(tiffTags.gdalNoData)) : Number.NaN;
  const parent = metadata.getItem("parent_grid_name") || null;
  const interpolation = metadata.getItem("interpolation_method");
  if (!["", "bilinear", "biquadratic"].includes(interpolation))
    throw file.createInvalidGridError(`its interpolation method "${interpolation}" is not supported`);
  // Like PROJ, falls back to four nodes if there are not three by three.
  const isBiquadratic = interpolation === "biquadratic" && placed.columns > 2 && placed.rows > 2;
  return { name, parent, ...placed, isBiquadratic, offset, raster, shifts, metadata, noData };
}

/** Parses GDAL's metadata: `<Item name="DESCRIPTION" sample="0" role="description">latitude_offset</Item>`. */
function readMetadata(xml: string): GdalMetadata {
  const items = new Map<string, string>();
  for (const [, attributes, text] of xml.matchAll(/<Item\s([^>]*)>([^<]*)</g)) {
    const of = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes!)?.[1];
    const name = of("name");
    if (name === undefined) continue;
    const role = of("role");
    for (const key of role === "scale" || role === "offset" ? [name, role.toUpperCase()] : [name])
      items.set(`${key} ${of("sample") ?? ""}`, text!.trim());
  }
  return { items, getItem: (name, sample) => items.get(`${name} ${sample ?? ""}`) ?? "" };
}

function readShiftSamples(
  file: GridFileReader,
  directory: TiffDirectory,
  metadata: GdalMetadata,
  before: GridImage | null,
): ShiftSamples | null {
  const type = metadata.getItem("TYPE");
  if (type !== "" && !supportedTypes.has(type)) {
    if (before !== null) return null;
    throw file.createInvalidGridError(
      `it is of the type ${type}, and only ${[...supportedTypes].join(" and ")} shift longitudes and latitudes`,
    );
  }
  const samples = Array.from(
    { length: Math.min(directory.getNumber(tiffTags.samplesPerPixel, 1), 16) },
    (_, index) => index,
  );
  const described = samples.map((sample) => metadata.getItem("DESCRIPTION", sample));
  const found = [described.indexOf("latitude_offset"), described.indexOf("longitude_offset")];
  const silent = described.every((description) => description === "");
  if (!silent && found.includes(-1)) {
    if (before !== null || found[0] !== found[1]) return null;
    throw file.createInvalidGridError(
      `its values are ${described.join(", ")}, not latitude_offset and longitude_offset`,
    );
  }
  const latitudeSample = silent ? (before?.shifts.latitudeSample ?? 0) : found[0]!;
  const longitudeSample = silent ? (before?.shifts.longitudeSample ?? 1) : found[1]!;
  const unit = metadata.getItem("UNITTYPE", latitudeSample);
  const other = metadata.getItem("UNITTYPE", longitudeSample);
  if (unit !== other) throw file.createInvalidGridError(`its shifts are in different units, ${unit} and ${other}`);
  const seconds = unit === "" ? (before?.shifts.latitudeUnit ?? 1) : arcSecondsPerUnit[unit];
  if (seconds === undefined) throw file.createInvalidGridError(`the unit of its shifts, "${unit}", is not supported`);
  const positive = metadata.getItem("positive_value", longitudeSample);
  if (!["", "east", "west"].includes(positive))
    throw file.createInvalidGridError(`its longitudes are positive "${positive}"`);
  const sign = positive === "" ? Math.sign(before?.shifts.longitudeUnit ?? 1) : positive === "west" ? -1 : 1;
  return { latitudeSample, longitudeSample, latitudeUnit: seconds, longitudeUnit: sign * seconds };
}

/** Where the nodes lie (OGC GeoTIFF 1.1, 7.1 and annex B.6), in radians. */
function readExtent(
  file: GridFileReader,
  directory: TiffDirectory,
): Omit<UnnestedPart, "name" | "parent" | "offset" | "isBiquadratic"> & Pick<GridImage, "bottomUp"> {
  const keys = directory.getNumbers(tiffTags.geoKeys);
  const key = (wanted: number) => {
    for (let i = 4; i + 3 < keys.length; i += 4) if (keys[i] === wanted) return keys[i + 3];
    return undefined;
  };
  const [modelType, isPixelArea] = [key(1024), key(1025) === 1];
  if (modelType !== undefined && modelType !== 2)
    throw file.createInvalidGridError("its nodes are not georeferenced by longitude and latitude");
  let [west, north, stepX, down] = readCorner(file, directory);
  if (isPixelArea) {
    west += stepX / 2;
    north -= down / 2;
  }
  const columns = directory.getNumber(tiffTags.width, 0);
  const rows = directory.getNumber(tiffTags.height, 0);
  const last = north - down * (rows - 1);
  return {
    west: west * radiansPerDegree,
    east: (west + stepX * (columns - 1)) * radiansPerDegree,
    north: Math.max(north, last) * radiansPerDegree,
    south: Math.min(north, last) * radiansPerDegree,
    stepX: stepX * radiansPerDegree,
    stepY: Math.abs(down) * radiansPerDegree,
    columns,
    rows,
    bottomUp: down < 0,
  };
}

/** Longitude and latitude of the first corner, then the width and height of a cell, in degrees. */
function readCorner(file: GridFileReader, directory: TiffDirectory): [number, number, number, number] {
  const matrix = directory.getNumbers(tiffTags.transformation);
  if (matrix.length === 16) {
    if (matrix[1] !== 0 || matrix[4] !== 0) throw file.createInvalidGridError("its rows and columns are rotated");
    return [matrix[3]!, matrix[7]!, matrix[0]!, -matrix[5]!];
  }
  const [width, height] = directory.getNumbers(tiffTags.pixelScale);
  const points = directory.getNumbers(tiffTags.tiePoints);
  if (width === undefined || height === undefined || points.length !== 6)
    throw file.createInvalidGridError("it does not declare where its nodes lie");
  return [points[3]! - points[0]! * width, points[4]! + points[1]! * height, width, height];
}

async function readNodes(file: GridFileReader, image: GridImage, values: Float32Array, little: boolean): Promise<void> {
  const { raster, shifts, metadata, noData, bottomUp, columns, rows, offset } = image;
  const wanted = [shifts.longitudeSample, shifts.latitudeSample];
  const factors = [shifts.longitudeUnit, shifts.latitudeUnit];
  const scales = wanted.map((sample) => Number(metadata.getItem("SCALE", sample) || 1));
  const offsets = wanted.map((sample) => Number(metadata.getItem("OFFSET", sample) || 0));
  if (![...scales, ...offsets].every(Number.isFinite))
    throw file.createInvalidGridError("its scale or offset is not a number");
  const noDataInSingle = Math.fround(noData);
  await readSamples(file, raster, little, wanted, (which, column, row, value) => {
    const fromSouth = bottomUp ? row : rows - 1 - row;
    const shift = (value * scales[which]! + offsets[which]!) * factors[which]!;
    values[offset + 2 * (fromSouth * columns + column) + which] =
      Math.fround(value) === noDataInSingle ? Number.NaN : shift;
  });
}
