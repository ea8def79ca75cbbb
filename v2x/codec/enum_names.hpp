#pragma once
// J2735's own names of enumerated values, for JSON; their count is the number of root values, which UPER needs.

#include "v2x/codec/alerts.hpp"
#include "v2x/codec/bsm.hpp"
#include "v2x/codec/fields.hpp"
#include "v2x/codec/map.hpp"
#include "v2x/codec/priority.hpp"
#include "v2x/codec/psm.hpp"
#include "v2x/codec/spat.hpp"
#include "v2x/codec/tim.hpp"

namespace isochron::v2x {

namespace names {
inline constexpr const char* transmission[] = {"neutral",   "park",      "forwardGears", "reverseGears",
                                               "reserved1", "reserved2", "reserved3",    "unavailable"};
inline constexpr const char* control[] = {"unavailable", "off", "on", "engaged"};
inline constexpr const char* boost[] = {"unavailable", "off", "on"};
inline constexpr const char* auxiliary[] = {"unavailable", "off", "on", "reserved"};
inline constexpr const char* siren[] = {"unavailable", "notInUse", "inUse", "reserved"};
inline constexpr const char* lightbar[] = {"unavailable",         "notInUse",         "inUse",
                                           "yellowCautionLights", "schooldBusLights", "arrowSignsActive",
                                           "slowMovingVehicle",   "freqStops"};
inline constexpr const char* multi[] = {"unavailable", "singleVehicle", "multiVehicle", "reserved"};
inline constexpr const char* response[] = {
    "notInUseOrNotEquipped", "emergency", "nonEmergency", "pursuit", "stationary", "slowMoving", "stopAndGoMovement"};
inline constexpr const char* precipitation[] = {"precip", "noPrecip", "error"};
inline constexpr const char* speed_limit[] = {"unknown",
                                              "maxSpeedInSchoolZone",
                                              "maxSpeedInSchoolZoneWhenChildrenArePresent",
                                              "maxSpeedInConstructionZone",
                                              "vehicleMinSpeed",
                                              "vehicleMaxSpeed",
                                              "vehicleNightMaxSpeed",
                                              "truckMinSpeed",
                                              "truckMaxSpeed",
                                              "truckNightMaxSpeed",
                                              "vehiclesWithTrailersMinSpeed",
                                              "vehiclesWithTrailersMaxSpeed",
                                              "vehiclesWithTrailersNightMaxSpeed"};
inline constexpr const char* node_attribute[] = {
    "reserved",        "stopLine",     "roundedCapStyleA",     "roundedCapStyleB",
    "mergePoint",      "divergePoint", "downstreamStopLine",   "downstreamStartNode",
    "closedToTraffic", "safeIsland",   "curbPresentAtStepOff", "hydrantPresent"};
inline constexpr const char* layer[] = {"none",      "mixedContent",       "generalMapData",  "intersectionData",
                                        "curveData", "roadwaySectionData", "parkingAreaData", "sharedLaneData"};
inline constexpr const char* applies_to[] = {"none",
                                             "equippedTransit",
                                             "equippedTaxis",
                                             "equippedOther",
                                             "emissionCompliant",
                                             "equippedBicycle",
                                             "weightCompliant",
                                             "heightCompliant",
                                             "pedestrians",
                                             "slowMovingPersons",
                                             "wheelchairUsers",
                                             "visualDisabilities",
                                             "audioDisabilities",
                                             "otherUnknownDisabilities"};
inline constexpr const char* signal[] = {"unavailable",
                                         "dark",
                                         "stop-Then-Proceed",
                                         "stop-And-Remain",
                                         "pre-Movement",
                                         "permissive-Movement-Allowed",
                                         "protected-Movement-Allowed",
                                         "permissive-clearance",
                                         "protected-clearance",
                                         "caution-Conflicting-Traffic"};
inline constexpr const char* advice[] = {"none", "greenwave", "ecoDrive", "transit"};
inline constexpr const char* person[] = {"unavailable", "aPEDESTRIAN", "aPEDALCYCLIST", "aPUBLICSAFETYWORKER",
                                         "anANIMAL"};
inline constexpr const char* cluster[] = {"unavailable", "small", "medium", "large"};
inline constexpr const char* rtcm[] = {"unknown", "rtcmRev2", "rtcmRev3", "reserved"};
inline constexpr const char* occupancy[] = {"occupancyUnknown",    "occupancyEmpty", "occupancyVeryLow",
                                            "occupancyLow",        "occupancyMed",   "occupancyHigh",
                                            "occupancyNearlyFull", "occupancyFull"};
inline constexpr const char* priority_request[] = {"priorityRequestTypeReserved", "priorityRequest",
                                                   "priorityRequestUpdate", "priorityCancellation"};
inline constexpr const char* priority_status[] = {"unknown", "requested", "processing",  "watchOtherTraffic",
                                                  "granted", "rejected",  "maxPresence", "reserviceLocked"};
inline constexpr const char* traveler_info[] = {"unknown", "advisory", "roadSignage", "commercialSignage"};
}  // namespace names

template <unsigned n>
constexpr EnumNames table(const char* const (&names)[n], bool extensible) {
  return {names, n, extensible};
}
constexpr EnumNames names_of(TransmissionState) { return table(names::transmission, false); }
constexpr EnumNames names_of(ControlStatus) { return table(names::control, false); }
constexpr EnumNames names_of(BrakeBoost) { return table(names::boost, false); }
constexpr EnumNames names_of(AuxiliaryBrakes) { return table(names::auxiliary, false); }
constexpr EnumNames names_of(SirenUse) { return table(names::siren, false); }
constexpr EnumNames names_of(LightbarUse) { return table(names::lightbar, false); }
constexpr EnumNames names_of(MultiVehicle) { return table(names::multi, false); }
constexpr EnumNames names_of(ResponseType) { return table(names::response, true); }
constexpr EnumNames names_of(Precipitation) { return table(names::precipitation, false); }
constexpr EnumNames names_of(SpeedLimitType) { return table(names::speed_limit, true); }
constexpr EnumNames names_of(NodeAttribute) { return table(names::node_attribute, true); }
constexpr EnumNames names_of(LayerType) { return table(names::layer, true); }
constexpr EnumNames names_of(RestrictionAppliesTo) { return table(names::applies_to, true); }
constexpr EnumNames names_of(SignalState) { return table(names::signal, false); }
constexpr EnumNames names_of(AdviceType) { return table(names::advice, true); }
constexpr EnumNames names_of(PersonType) { return table(names::person, true); }
constexpr EnumNames names_of(ClusterSize) { return table(names::cluster, true); }
constexpr EnumNames names_of(RtcmRevision) { return table(names::rtcm, true); }
constexpr EnumNames names_of(Occupancy) { return table(names::occupancy, false); }
constexpr EnumNames names_of(PriorityRequest) { return table(names::priority_request, true); }
constexpr EnumNames names_of(PriorityStatus) { return table(names::priority_status, true); }
constexpr EnumNames names_of(TravelerInfo) { return table(names::traveler_info, true); }

}  // namespace isochron::v2x
