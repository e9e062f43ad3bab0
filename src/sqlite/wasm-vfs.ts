import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Sqlite3Static } from "@sqlite.org/sqlite-wasm";

export const vfsName = "geoferry";

/** Members of the C structs that the types of the package leave out: pointers, and the functions of a VFS. */
interface IoMethods {
  $iVersion: number;
  readonly pointer: number;
}
interface Vfs {
  $iVersion: number;
  $szOsFile: number;
  $mxPathname: number;
  $xRandomness: number;
  $xSleep: number;
  $xCurrentTime: number;
  $xCurrentTimeInt64: number;
  dispose(): void;
}
interface SqliteFile {
  $pMethods: number;
  dispose(): void;
}
interface Structs {
  readonly sqlite3_io_methods: new () => IoMethods;
  readonly sqlite3_vfs: new (pointer?: number) => Vfs;
  readonly sqlite3_file: { new (pointer: number): SqliteFile; readonly structInfo: { readonly sizeof: number } };
}

/**
 * Gives SQLite's WebAssembly build the files of the machine (https://www.sqlite.org/vfs.html). It takes no locks, since
 * Node cannot: use it only for files that no other process writes.
 */
export function installFileSystem({ capi, wasm, vfs }: Sqlite3Static): void {
  const files = new Map<number, { readonly descriptor: number; readonly deleteOnClose: string | null }>();
  const structs = capi as unknown as Structs;
  const ioMethods = new structs.sqlite3_io_methods();
  const fileSystem = new structs.sqlite3_vfs();
  const defaultVfs = new structs.sqlite3_vfs(capi.sqlite3_vfs_find(null as never) as number);
  ioMethods.$iVersion = 1;
  fileSystem.$iVersion = 2;
  fileSystem.$szOsFile = structs.sqlite3_file.structInfo.sizeof;
  fileSystem.$mxPathname = 4096;
  fileSystem.$xRandomness = defaultVfs.$xRandomness;
  fileSystem.$xSleep = defaultVfs.$xSleep;
  fileSystem.$xCurrentTime = defaultVfs.$xCurrentTime;
  fileSystem.$xCurrentTimeInt64 = defaultVfs.$xCurrentTimeInt64;
  defaultVfs.dispose();
  let temporaryFiles = 0;

  /** Runs a call of the file system; any error becomes a result code. */
  const attempt = (code: number, work: () => number | undefined): number => {
    try {
      return work() ?? capi.SQLITE_OK;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ENOSPC" ? capi.SQLITE_FULL : code;
    }
  };
  const memory = (pointer: number, length: number): Uint8Array =>
    (wasm.heap8u() as Uint8Array).subarray(pointer, pointer + length);
  const ok = () => capi.SQLITE_OK;

  vfs.installVfs({
    io: {
      struct: ioMethods as never,
      methods: {
        xClose: (file: number) =>
          attempt(capi.SQLITE_IOERR_CLOSE, () => {
            const { descriptor, deleteOnClose } = files.get(file)!;
            files.delete(file);
            closeSync(descriptor);
            if (deleteOnClose) unlinkSync(deleteOnClose);
            return undefined;
          }),
        xRead: (file: number, target: number, length: number, offset: bigint) =>
          attempt(capi.SQLITE_IOERR_READ, () => {
            const bytes = memory(target, length);
            const read = readSync(files.get(file)!.descriptor, bytes, 0, length, Number(offset));
            if (read === length) return undefined;
            bytes.fill(0, read);
            return capi.SQLITE_IOERR_SHORT_READ;
          }),
        xWrite: (file: number, source: number, length: number, offset: bigint) =>
          attempt(capi.SQLITE_IOERR_WRITE, () => {
            const bytes = memory(source, length);
            const { descriptor } = files.get(file)!;
            for (let written = 0; written < length; )
              written += writeSync(descriptor, bytes, written, length - written, Number(offset) + written);
            return undefined;
          }),
        xTruncate: (file: number, size: bigint) =>
          attempt(capi.SQLITE_IOERR_TRUNCATE, () => {
            ftruncateSync(files.get(file)!.descriptor, Number(size));
            return undefined;
          }),
        xSync: (file: number) =>
          attempt(capi.SQLITE_IOERR_FSYNC, () => {
            fsyncSync(files.get(file)!.descriptor);
            return undefined;
          }),
        xFileSize: (file: number, target: number) =>
          attempt(capi.SQLITE_IOERR_FSTAT, () => {
            wasm.poke(target, fstatSync(files.get(file)!.descriptor).size, "i64");
            return undefined;
          }),
        xLock: ok,
        xUnlock: ok,
        xCheckReservedLock: (_file: number, target: number) => {
          wasm.poke(target, 0, "i32");
          return capi.SQLITE_OK;
        },
        xFileControl: () => capi.SQLITE_NOTFOUND,
        xSectorSize: () => 4096,
        xDeviceCharacteristics: () => 0,
      } as never,
    },
    vfs: {
      struct: fileSystem as never,
      name: vfsName,
      methods: {
        xOpen: (_vfs: number, name: number, file: number, flags: number, outFlags: number) =>
          attempt(capi.SQLITE_CANTOPEN, () => {
            const path = name
              ? wasm.cstrToJs(name)!
              : join(tmpdir(), `geoferry-sqlite-${process.pid}-${temporaryFiles++}`);
            const canWrite = (flags & capi.SQLITE_OPEN_READWRITE) !== 0;
            const create = (flags & capi.SQLITE_OPEN_CREATE) !== 0 && !existsSync(path);
            const descriptor = openSync(path, create ? "wx+" : canWrite ? "r+" : "r", 0o644);
            const deleteOnClose = (flags & capi.SQLITE_OPEN_DELETEONCLOSE) !== 0 ? path : null;
            files.set(file, { descriptor, deleteOnClose });
            const struct = new structs.sqlite3_file(file);
            struct.$pMethods = ioMethods.pointer;
            struct.dispose();
            if (outFlags) wasm.poke(outFlags, flags, "i32");
            return undefined;
          }),
        xDelete: (_vfs: number, name: number) =>
          attempt(capi.SQLITE_IOERR_DELETE, () => {
            unlinkSync(wasm.cstrToJs(name)!);
            return undefined;
          }),
        xAccess: (_vfs: number, name: number, _flags: number, target: number) => {
          wasm.poke(target, existsSync(wasm.cstrToJs(name)!) ? 1 : 0, "i32");
          return capi.SQLITE_OK;
        },
        xFullPathname: (_vfs: number, name: number, size: number, target: number) =>
          attempt(capi.SQLITE_CANTOPEN, () => {
            const bytes = Buffer.from(`${resolve(wasm.cstrToJs(name)!)}\0`);
            if (bytes.length > size) return capi.SQLITE_CANTOPEN;
            memory(target, size).set(bytes);
            return undefined;
          }),
        xGetLastError: ok,
      } as never,
    },
  });
}
