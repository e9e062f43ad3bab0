/** Rows and columns of a sheet in Excel, and in LibreOffice since 7.4. */
export const maxRows = 1_048_576;
export const maxColumns = 16_384;
/** Characters of a cell in Excel, in UTF-16 units. */
export const maxCellLength = 32_767;
/** Characters of the name of a sheet in Excel. */
export const maxNameLength = 31;
