// The reference experiment in ns-3 (GPL; built and run as a program of its own, never linked with Isochron): vehicles
// stand on a straight road and broadcast. Prints delivery by distance, latency, events and the time it took.
//
//   road NODES SECONDS SEED POWER_DBM
//
// Free-space slope with ns-3's default Nakagami fading; receivers lock on to any frame that stands out of the noise.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

using namespace ns3;

namespace {

constexpr double road_m = 1000;
constexpr unsigned payload_octets = 300;
std::vector<Ptr<Socket>> sockets;
std::vector<double> places;
std::vector<unsigned> sent;
unsigned heard[16];
unsigned pairs_expected[16];
std::vector<double> phases;
Ptr<UniformRandomVariable> jitter;
constexpr double jitter_s = 0.1;
double latency_sum = 0;
unsigned long latencies = 0;

struct Stamp : public Header {
  uint32_t from = 0;
  int64_t at = 0;
  static TypeId GetTypeId() {
    static TypeId id = TypeId("Stamp").SetParent<Header>().AddConstructor<Stamp>();
    return id;
  }
  TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  uint32_t GetSerializedSize() const override { return 12; }
  void Serialize(Buffer::Iterator i) const override { i.WriteU32(from), i.WriteU64(static_cast<uint64_t>(at)); }
  uint32_t Deserialize(Buffer::Iterator i) override {
    from = i.ReadU32();
    at = static_cast<int64_t>(i.ReadU64());
    return 12;
  }
  void Print(std::ostream&) const override {}
};

int bucket(double d) { return static_cast<int>(d / 100 + 0.5); }

void Receive(Ptr<Socket> socket) {
  const uint32_t me = socket->GetNode()->GetId();
  while (Ptr<Packet> packet = socket->Recv()) {
    Stamp stamp;
    packet->RemoveHeader(stamp);
    ++heard[bucket(std::abs(places[me] - places[stamp.from]))];
    latency_sum += (Simulator::Now().GetNanoSeconds() - stamp.at) * 1e-6;
    ++latencies;
  }
}

void SendOne(uint32_t node, double until_s) {
  if (Simulator::Now().GetSeconds() > until_s) return;
  Ptr<Packet> packet = Create<Packet>(payload_octets - 12);
  Stamp stamp;
  stamp.from = node;
  stamp.at = Simulator::Now().GetNanoSeconds();
  packet->AddHeader(stamp);
  sockets[node]->Send(packet);
  ++sent[node];
  for (uint32_t to = 0; to < places.size(); ++to) {
    if (to != node) ++pairs_expected[bucket(std::abs(places[to] - places[node]))];
  }
  // Anew in each period, so that the same two do not collide for ever.
  const double phase = jitter->GetValue(0, jitter_s);
  Simulator::Schedule(Seconds(0.1 + phase - phases[node]), &SendOne, node, until_s);
  phases[node] = phase;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned nodes = argc > 1 ? std::atoi(argv[1]) : 30;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 10;
  const unsigned seed = argc > 3 ? std::atoi(argv[3]) : 1;
  const double power = argc > 4 ? std::atof(argv[4]) : 20;
  jitter = CreateObject<UniformRandomVariable>();
  phases.assign(nodes, 0);
  RngSeedManager::SetSeed(seed);
  Ptr<UniformRandomVariable> uniform = CreateObject<UniformRandomVariable>();

  NodeContainer container;
  container.Create(nodes);
  Ptr<ListPositionAllocator> list = CreateObject<ListPositionAllocator>();
  for (unsigned i = 0; i < nodes; ++i) {
    places.push_back(uniform->GetValue(0, road_m));
    list->Add(Vector(places.back(), 0, 0));
  }
  MobilityHelper mobility;
  mobility.SetPositionAllocator(list);
  mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
  mobility.Install(container);

  YansWifiChannelHelper channel;
  channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
  channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel", "Exponent", DoubleValue(2.0));
  channel.AddPropagationLoss("ns3::NakagamiPropagationLossModel");
  YansWifiPhyHelper phy;
  phy.SetChannel(channel.Create());
  phy.Set("TxPowerStart", DoubleValue(power));
  phy.Set("TxPowerEnd", DoubleValue(power));
  phy.Set("RxNoiseFigure", DoubleValue(6));
  phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(-101));
  WifiMacHelper mac;
  mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
  WifiHelper wifi;
  wifi.SetStandard(WIFI_STANDARD_80211p);
  wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("OfdmRate6MbpsBW10MHz"),
                               "ControlMode", StringValue("OfdmRate6MbpsBW10MHz"), "NonUnicastMode",
                               StringValue("OfdmRate6MbpsBW10MHz"));
  NetDeviceContainer devices = wifi.Install(phy, mac, container);
  PacketSocketHelper packet_sockets;
  packet_sockets.Install(container);

  sent.assign(nodes, 0);
  for (unsigned i = 0; i < nodes; ++i) {
    Ptr<Socket> socket = Socket::CreateSocket(container.Get(i), PacketSocketFactory::GetTypeId());
    PacketSocketAddress address;
    address.SetSingleDevice(devices.Get(i)->GetIfIndex());
    address.SetPhysicalAddress(devices.Get(i)->GetBroadcast());
    address.SetProtocol(0x88dc);
    socket->Bind(address);
    socket->Connect(address);
    socket->SetRecvCallback(MakeCallback(&Receive));
    sockets.push_back(socket);
    Simulator::Schedule(Seconds(1 + uniform->GetValue(0, 0.1)), &SendOne, i, 1 + seconds);
  }
  Simulator::Stop(Seconds(1.5 + seconds));
  const std::clock_t start = std::clock();
  Simulator::Run();
  const double cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("nodes %u", nodes);
  for (int b : {2, 4, 6}) std::printf(" %d00m %.4f", b, double(heard[b]) / pairs_expected[b]);
  std::printf(" latency_ms %.3f cpu_s %.3f events %lu simulated_s %g\n", latency_sum / latencies, cpu,
              static_cast<unsigned long>(Simulator::GetEventCount()), seconds);
  std::fflush(stdout);
  std::_Exit(0);  // the tables of the simulator take longer to take down than to use
}
