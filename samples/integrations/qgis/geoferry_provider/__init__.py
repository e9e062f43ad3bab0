"""A Processing provider of QGIS that runs geoferry. Copy this folder into the profile's python/plugins folder."""


def classFactory(iface):
    from .plugin import GeoferryPlugin

    return GeoferryPlugin()
