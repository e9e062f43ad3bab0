<?xml version="1.0" encoding="UTF-8"?>
<gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:net="http://example.org/net" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" gml:id="network">
  <gml:boundedBy>
    <gml:Envelope srsName="urn:ogc:def:crs:EPSG::4258">
      <gml:lowerCorner>48.77 9.17</gml:lowerCorner>
      <gml:upperCorner>48.79 9.20</gml:upperCorner>
    </gml:Envelope>
  </gml:boundedBy>
  <gml:featureMember>
    <net:Stop gml:id="stop.1">
      <net:position><gml:Point gml:id="p.1" srsName="urn:ogc:def:crs:EPSG::4258"><gml:pos>48.7758 9.1829</gml:pos></gml:Point></net:position>
      <net:code>007</net:code>
      <net:opened>1978-09-30</net:opened>
      <net:platforms>2</net:platforms>
      <net:line>S1</net:line>
      <net:line>S2</net:line>
    </net:Stop>
  </gml:featureMember>
  <gml:featureMember>
    <net:Stop gml:id="stop.2">
      <net:position><gml:Point gml:id="p.2" srsName="urn:ogc:def:crs:EPSG::4258"><gml:pos>48.7838 9.1817</gml:pos></gml:Point></net:position>
      <net:code>012</net:code>
      <net:opened xsi:nil="true"/>
      <net:platforms>16</net:platforms>
      <net:line>S1</net:line>
    </net:Stop>
  </gml:featureMember>
  <gml:featureMember>
    <net:Track gml:id="track.1">
      <net:course><gml:MultiCurve gml:id="c.1" srsName="urn:ogc:def:crs:EPSG::4258"><gml:curveMember><gml:LineString gml:id="l.1"><gml:posList>48.7758 9.1829 48.7790 9.1801</gml:posList></gml:LineString></gml:curveMember><gml:curveMember><gml:LineString gml:id="l.2"><gml:posList>48.7791 9.1800 48.7838 9.1817</gml:posList></gml:LineString></gml:curveMember></gml:MultiCurve></net:course>
      <net:length uom="m">905.5</net:length>
    </net:Track>
  </gml:featureMember>
  <gml:featureMember>
    <net:Stop gml:id="stop.3">
      <net:position><gml:Point gml:id="p.3" srsName="urn:ogc:def:crs:EPSG::4258"><gml:pos>48.7717 9.1786 245.5</gml:pos></gml:Point></net:position>
      <net:code>3A</net:code>
      <net:platforms>4</net:platforms>
    </net:Stop>
  </gml:featureMember>
  <gml:featureMember>
    <net:Stop gml:id="stop.4">
      <net:code>planned &amp; open</net:code>
      <net:platforms>0</net:platforms>
    </net:Stop>
  </gml:featureMember>
  <gml:featureMember>
    <net:Track gml:id="track.2">
      <net:course><gml:Curve gml:id="c.2" srsName="urn:ogc:def:crs:EPSG::4258"><gml:segments><gml:LineStringSegment><gml:posList>48.7838 9.1817 48.7850 9.1830 48.7871 9.1822</gml:posList></gml:LineStringSegment></gml:segments></gml:Curve></net:course>
      <net:length uom="m">388</net:length>
    </net:Track>
  </gml:featureMember>
</gml:FeatureCollection>
