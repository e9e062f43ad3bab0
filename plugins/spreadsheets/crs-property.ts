/** The property of a file that names the reference system of its coordinates, which spreadsheets cannot declare. */

export const crsProperty = "CRS";

/** The name of the property of one sheet, in a file whose sheets have different systems. */
export const sheetCrsProperty = (sheet: string): string => `${crsProperty} of ${sheet}`;

/** Only codes are written and read: any other property of the name is of another program. */
const codePattern = /^[A-Za-z]+:\w+$/;

export const isCrsCode = (text: string): boolean => codePattern.test(text);

/** The system of a sheet; null if no property names one. */
export function crsOfSheet(properties: ReadonlyMap<string, string>, sheet: string): string | null {
  const text = properties.get(sheetCrsProperty(sheet)) ?? properties.get(crsProperty);
  return text !== undefined && isCrsCode(text) ? text : null;
}
