/** @typedef {import("geoferry/plugin").Geometry} Geometry */

const types = ["Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection"];
const typeOf = new Map(types.map((type) => [type.toUpperCase(), type]));

/**
 * Well-known text (OGC 06-103r4, clause 7) as a GeoJSON geometry. Measures (M) are left out.
 * @param {string} text
 * @returns {Geometry}
 * @throws {SyntaxError}
 */
export function parseWkt(text) {
  const tokens = text.match(/[a-z]+|[(),]|[^\s(),]+/gi) ?? [];
  let at = 0;
  const wrong = (expected) => new SyntaxError(`expected ${expected}, found ${tokens[at] ?? "the end of the line"}`);
  const takes = (token) => tokens[at]?.toUpperCase() === token && ++at > 0;
  const list = (item) => {
    if (takes("EMPTY")) return [];
    if (!takes("(")) throw wrong('"("');
    const items = [item()];
    while (takes(",")) items.push(item());
    if (!takes(")")) throw wrong('")"');
    return items;
  };

  const geometry = () => {
    const word = tokens[at++]?.toUpperCase() ?? "";
    const [, name = "", joined] = /^(.*[^ZM])(ZM?|M)?$/.exec(word) ?? [];
    const type = typeOf.get(name);
    if (!type) throw new SyntaxError(`"${word}" is not a geometry type`);
    const tag = joined ?? (/^(ZM?|M)$/i.test(tokens[at] ?? "") ? tokens[at++].toUpperCase() : "");
    const position = () => {
      const numbers = [];
      while (at < tokens.length && !/[(),]/.test(tokens[at])) numbers.push(Number(tokens[at++]));
      if (numbers.length < 2 || !numbers.every(Number.isFinite)) throw wrong("a position of two or three numbers");
      return numbers.slice(0, tag === "M" ? 2 : 3);
    };
    const line = () => list(position);
    const area = () => list(line);
    const point = () => (tokens[at] === "(" ? (line()[0] ?? []) : position());
    switch (type) {
      case "Point":
        return { type, coordinates: line()[0] ?? [] };
      case "LineString":
        return { type, coordinates: line() };
      case "MultiPoint":
        return { type, coordinates: list(point) };
      case "Polygon":
      case "MultiLineString":
        return { type, coordinates: area() };
      case "MultiPolygon":
        return { type, coordinates: list(area) };
      default:
        return { type, geometries: list(geometry) };
    }
  };

  const parsed = geometry();
  if (at < tokens.length) throw wrong("the end of the line");
  return parsed;
}

const nested = (value) => (typeof value[0] === "number" ? value.join(" ") : `(${value.map(nested).join(", ")})`);
const hasZ = (value) => (Array.isArray(value[0]) ? hasZ(value[0]) : value.length > 2);

/**
 * @param {Geometry} geometry
 * @returns {string}
 */
export function printWkt(geometry) {
  const name = geometry.type.toUpperCase();
  if (geometry.type === "GeometryCollection") {
    return geometry.geometries.length === 0
      ? `${name} EMPTY`
      : `${name} (${geometry.geometries.map(printWkt).join(", ")})`;
  }
  const { type, coordinates } = geometry;
  if (coordinates.length === 0) return `${name} EMPTY`;
  return `${name}${hasZ(coordinates) ? " Z" : ""} ${nested(type === "Point" ? [coordinates] : coordinates)}`;
}
