from qgis.core import QgsApplication

from .provider import GeoferryProvider


class GeoferryPlugin:
    def __init__(self):
        self.provider = None

    def initProcessing(self):
        self.provider = GeoferryProvider()
        QgsApplication.processingRegistry().addProvider(self.provider)

    def initGui(self):
        self.initProcessing()

    def unload(self):
        QgsApplication.processingRegistry().removeProvider(self.provider)
