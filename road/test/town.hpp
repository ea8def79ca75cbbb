#pragma once
// A small crossing with lights, as netconvert writes it, cut down to what matters: two roads in, one road out.

#include <string>

namespace isochron::road::test {

inline const std::string town = R"(<?xml version="1.0" encoding="UTF-8"?>
<net version="1.9">
  <location netOffset="0.00,0.00" convBoundary="0.00,0.00,100.00,100.00"/>
  <edge id=":J_0" function="internal"><lane id=":J_0_0" index="0" speed="13.89" length="10" shape="45,50 55,50"/></edge>
  <edge id=":J_1" function="internal"><lane id=":J_1_0" index="0" speed="6" length="9" shape="50,45 51,49 55,50"/></edge>
  <edge id="west" from="W" to="J" priority="1"><lane id="west_0" index="0" speed="13.89" length="45" shape="0,50 45,50"/></edge>
  <edge id="south" from="S" to="J" priority="1">
    <lane id="south_0" index="0" allow="pedestrian" speed="1" length="45" width="2" shape="53,0 53,45"/>
    <lane id="south_1" index="1" speed="8" length="45" width="3" shape="50,0 50,45"/>
  </edge>
  <edge id="east" from="J" to="E" priority="1"><lane id="east_0" index="0" speed="13.89" length="45" shape="55,50 100,50"/></edge>
  <tlLogic id="J" type="static" programID="0" offset="0">
    <phase duration="10" state="Gr"/><phase duration="3" state="yr"/><phase duration="7" state="rg"/>
  </tlLogic>
  <junction id="J" type="traffic_light" x="50" y="50" incLanes="west_0 south_1" intLanes=":J_0_0 :J_1_0">
    <request index="0" response="00" foes="10" cont="0"/><request index="1" response="01" foes="01" cont="0"/>
  </junction>
  <connection from="west" to="east" fromLane="0" toLane="0" via=":J_0_0" tl="J" linkIndex="0" dir="s" state="o"/>
  <connection from="south" to="east" fromLane="1" toLane="0" via=":J_1_0" tl="J" linkIndex="1" dir="r" state="o"/>
  <connection from=":J_0" to="east" fromLane="0" toLane="0" dir="s" state="M"/>
</net>
)";

}  // namespace isochron::road::test
