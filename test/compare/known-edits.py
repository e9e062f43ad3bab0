"""Compares two files by the field "ref" with GDAL, and prints each difference as JSON: an independent judge of a diff."""
import json
import sys
from osgeo import ogr

ogr.UseExceptions()


def features(path):
    dataset = ogr.Open(path)
    layer = dataset.GetLayer(0)
    names = [layer.GetLayerDefn().GetFieldDefn(i).GetName() for i in range(layer.GetLayerDefn().GetFieldCount())]
    found = {}
    for feature in layer:
        values = {name: feature.GetField(name) for name in names if name in ("ref", "name", "value", "kind")}
        geometry = feature.GetGeometryRef()
        found[str(values["ref"])] = (values, geometry and geometry.Clone())
    return found


def number(value):
    """Some formats cannot tell an empty text from null."""
    if value == "":
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def positions(coordinates):
    """In any order, since a Shapefile's rings turn the other way."""
    if isinstance(coordinates[0], (int, float)):
        return [tuple(round(number, 7) for number in coordinates)]
    return sorted(position for part in coordinates for position in positions(part))


def same_geometry(one, other):
    if one is None or other is None:
        return one is other
    return positions(json.loads(one.ExportToJson())["coordinates"]) == positions(json.loads(other.ExportToJson())["coordinates"])


old, new = features(sys.argv[1]), features(sys.argv[2])
for key in sorted(old.keys() | new.keys()):
    if key not in new:
        print(json.dumps(["removed", key, []]))
    elif key not in old:
        print(json.dumps(["added", key, []]))
    else:
        (before, place), (after, other_place) = old[key], new[key]
        names = sorted(name for name in before if name in after and number(before[name]) != number(after[name]))
        moved = not same_geometry(place, other_place)
        if names or moved:
            print(json.dumps(["changed" if names else "moved", key, names + (["geometry"] if moved else [])]))
