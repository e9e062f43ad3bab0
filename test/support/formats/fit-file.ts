/** Writes FIT files byte by byte (FIT Protocol, "FIT File Structure"): little endian, a definition before each message. */

/** Global message numbers (FIT Profile, mesg_num). */
export const FitMessage = { fileId: 0, session: 18, lap: 19, record: 20, activity: 34 } as const;

/** Base types (FIT Protocol, "FIT Base Types"); the lower bits number them, bit 7 is set for those of several bytes. */
export const FitType = { enum: 0x00, uint8: 0x02, uint16: 0x84, sint32: 0x85, uint32: 0x86 } as const;
const sizes: Readonly<Record<number, number>> = { 0: 1, 2: 1, 132: 2, 133: 4, 134: 4 };

/** A message: its number, and its fields as number, type and value. */
export type FitRow = readonly [message: number, ...fields: (readonly [field: number, type: number, value: number])[]];

export function fitFile(rows: readonly FitRow[]): Buffer {
  const body = Buffer.concat([[FitMessage.fileId, [0, FitType.enum, 4]] as FitRow, ...rows].map(messageOf));
  const header = Buffer.alloc(14);
  header[0] = header.length;
  // Protocol 2.0, profile 21.32
  header[1] = 0x20;
  header.writeUInt16LE(2132, 2);
  header.writeUInt32LE(body.length, 4);
  header.write(".FIT", 8, "latin1");
  header.writeUInt16LE(checksum(header.subarray(0, 12)), 12);
  const whole = Buffer.concat([header, body, Buffer.alloc(2)]);
  whole.writeUInt16LE(checksum(whole.subarray(0, -2)), whole.length - 2);
  return whole;
}

/** A definition of local message 0, and the message. */
function messageOf([message, ...fields]: FitRow): Buffer {
  const definition = Buffer.alloc(6);
  definition[0] = 0x40;
  definition.writeUInt16LE(message, 3);
  definition[5] = fields.length;
  const types = fields.flatMap(([field, type]) => [field, sizes[type]!, type]);
  const values = fields.map(([, type, value]) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value | 0);
    return bytes.subarray(0, sizes[type]!);
  });
  return Buffer.concat([definition, Buffer.from(types), Buffer.of(0), ...values]);
}

/** CRC-16 with the polynomial x^16 + x^15 + x^2 + 1, the lowest bit first (FIT Protocol, "CRC"). */
function checksum(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  }
  return crc;
}
