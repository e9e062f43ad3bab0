"""
PROJ's own answers, by its library: a request a line on stdin, a response a line on stdout, both JSON.

  {"crs": "EPSG:2154", "points": 20}
    -> {"from": [[longitude, latitude], ...],
        "there": [[x, y, kind, accuracy], ...], "back": [[longitude, latitude, kind, accuracy], ...],
        "grids": whether there is an operation that lacks its grid}
  {"crs": "EPSG:2154", "points": 20, "retrace": true}
    -> {"back": [[longitude, latitude, kind], ...]}, each by the operation that it went by
  {"from": "...", "to": "...", "xy": [[x, y], ...]}
    -> {"xy": [[x, y, kind, accuracy], ...]}
  {}
    -> {"proj": "9.5.1", "epsg": "v11.022"}

Coordinates are in PROJ's order for maps: easting first, longitude first. `kind` is "" for a registered operation, "ballpark" for
none, "error" where there are no coordinates, and then x and y are null. `accuracy` is that of PROJ's operation in metres,
null where PROJ does not know it, and absent where there are no coordinates. The library is asked itself, since cs2cs neither
says which operation it took at a position nor stays for a second system.

  proj-reference.py [library [proj.db [folder]]]       by default those of the machine; a folder of grids, by default none
"""
import ctypes
import ctypes.util
import json
import math
import os
import sys

library, database, grids = (sys.argv[1:] + ["", "", ""])[:3]
lib = ctypes.CDLL(library or ctypes.util.find_library("proj"))


class Coord(ctypes.Structure):
    _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_double), ("z", ctypes.c_double), ("t", ctypes.c_double)]


pointer, text, integer, real = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_double


def function(name, result, *arguments):
    found = getattr(lib, name)
    found.restype = result
    found.argtypes = arguments
    return found


context_create = function("proj_context_create", pointer)
log_level = function("proj_log_level", integer, pointer, integer)
set_search_paths = function("proj_context_set_search_paths", None, pointer, integer, ctypes.POINTER(text))
set_database = function("proj_context_set_database_path", integer, pointer, text, pointer, pointer)
set_network = function("proj_context_set_enable_network", integer, pointer, integer)
create = function("proj_create", pointer, pointer, text)
destroy = function("proj_destroy", pointer, pointer)
crs_to_crs = function("proj_create_crs_to_crs_from_pj", pointer, pointer, pointer, pointer, pointer, pointer)
normalize = function("proj_normalize_for_visualization", pointer, pointer, pointer)
trans = function("proj_trans", Coord, pointer, integer, Coord)
errno_reset = function("proj_errno_reset", integer, pointer)
last_used = function("proj_trans_get_last_used_operation", pointer, pointer)
has_ballpark = function("proj_coordoperation_has_ballpark_transformation", integer, pointer, pointer)
get_accuracy = function("proj_coordoperation_get_accuracy", real, pointer, pointer)
factory_create = function("proj_create_operation_factory_context", pointer, pointer, text)
factory_destroy = function("proj_operation_factory_context_destroy", None, pointer)
factory_grids = function(
    "proj_operation_factory_context_set_grid_availability_use", None, pointer, pointer, integer
)
create_operations = function("proj_create_operations", pointer, pointer, pointer, pointer, pointer)
list_count = function("proj_list_get_count", integer, pointer)
list_get = function("proj_list_get", pointer, pointer, pointer, integer)
list_destroy = function("proj_list_destroy", None, pointer)
grid_count = function("proj_coordoperation_get_grid_used_count", integer, pointer, pointer)
area_of_use = function(
    "proj_get_area_of_use", integer, pointer, pointer, *[ctypes.POINTER(real)] * 4, ctypes.POINTER(text)
)
database_metadata = function("proj_context_get_database_metadata", text, pointer, text)
context = context_create()
log_level(context, 0)
set_network(context, 0)
usual = ["/usr/share/proj/proj.db", "/usr/local/share/proj/proj.db"]
database = database or next((path for path in usual if os.path.exists(path)), None)
if database:
    set_database(context, database.encode(), None, None)
# No installed grids: an empty list of folders would mean the usual ones.
set_search_paths(context, 1, (text * 1)((grids or "/nonexistent").encode()))


def transformer(source, target):
    options = (text * 1)(None)
    raw = crs_to_crs(context, source, target, None, options)
    if not raw:
        return None
    normal = normalize(context, raw)
    destroy(raw)
    return normal


def run(operation, positions):
    result = []
    for x, y in positions:
        if x is None:
            result.append([None, None, "error"])
            continue
        errno_reset(operation)
        found = trans(operation, 1, Coord(x, y, 0.0, math.inf))
        if not (math.isfinite(found.x) and math.isfinite(found.y)):
            result.append([None, None, "error"])
            continue
        used = last_used(operation)
        ballpark = used and has_ballpark(context, used)
        accuracy = get_accuracy(context, used) if used else -1
        if used:
            destroy(used)
        result.append([found.x, found.y, "ballpark" if ballpark else "", accuracy if accuracy >= 0 else None])
    return result


def retrace(operation, positions):
    result = []
    for x, y in positions:
        errno_reset(operation)
        found = trans(operation, 1, Coord(x, y, 0.0, math.inf))
        used = last_used(operation) if math.isfinite(found.x) else None
        if not used:
            result.append([None, None, "error"])
            continue
        back = trans(used, -1, Coord(found.x, found.y, 0.0, math.inf))
        kind = "ballpark" if has_ballpark(context, used) else ""
        destroy(used)
        result.append([back.x, back.y, kind] if math.isfinite(back.x) else [None, None, "error"])
    return result


def lacks_grid(source, target):
    factory = factory_create(context, None)
    factory_grids(context, factory, 2)  # PROJ_GRID_AVAILABILITY_IGNORED
    operations = create_operations(context, source, target, factory)
    found = False
    for index in range(list_count(operations) if operations else 0):
        operation = list_get(context, operations, index)
        found = found or grid_count(context, operation) > 0
        destroy(operation)
    if operations:
        list_destroy(operations)
    factory_destroy(factory)
    return found


def radical_inverse(index, base):
    value, part = 0.0, 1.0
    while index:
        part /= base
        value += part * (index % base)
        index //= base
    return value


def samples(crs, count):
    """Spread over the area of use (Halton), its corners among them."""
    west, south, east, north = real(), real(), real(), real()
    if not area_of_use(context, crs, west, south, east, north, None) or west.value == -1000:
        return None
    width = (east.value - west.value) % 360 or 360
    height = north.value - south.value
    places = [(0.003, 0.003), (0.997, 0.997), (0.003, 0.997), (0.997, 0.003)]
    places += [(radical_inverse(n, 2), radical_inverse(n, 3)) for n in range(1, count - 3)]
    return [
        [(west.value + width * u + 540) % 360 - 180, south.value + height * v] for u, v in places[:count]
    ]


wgs84 = create(context, b"EPSG:4326")


class Info(ctypes.Structure):
    _fields_ = [(name, integer) for name in ("major", "minor", "patch")]
    _fields_ += [(name, text) for name in ("release", "version", "searchpath")]
    _fields_ += [("paths", pointer), ("path_count", ctypes.c_size_t)]


info = function("proj_info", Info)


def answer(request):
    if not request:
        found = info()
        version = database_metadata(context, b"EPSG.VERSION")
        return {"proj": f"{found.major}.{found.minor}.{found.patch}", "epsg": (version or b"?").decode()}
    if "xy" in request:
        source, target = (create(context, request[side].encode()) for side in ("from", "to"))
        operation = transformer(source, target) if source and target else None
        return {"xy": run(operation, request["xy"])} if operation else {"error": "none"}
    crs = create(context, request["crs"].encode())
    if not crs:
        return {"error": "unknown"}
    places = samples(crs, request["points"])
    if places is None:
        return {"error": "no area"}
    there = transformer(wgs84, crs)
    if there and request.get("retrace"):
        answered = {"back": retrace(there, places)}
        destroy(there)
        destroy(crs)
        return answered
    back = transformer(crs, wgs84)
    if not there or not back:
        return {"error": "none"}
    forward = run(there, places)
    inverse = run(back, [position[:2] for position in forward])
    grids = any(position[2] != "" for position in forward + inverse) and lacks_grid(wgs84, crs)
    for used in (there, back, crs):
        destroy(used)
    return {"from": places, "there": forward, "back": inverse, "grids": grids}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
