// Pinocchio behind a C interface: results for the check, and timed loops that never leave compiled code.
//
// States are rows of x: q, then v, then a (or tau for what starts from forces), all in Pinocchio's conventions.
#include <ctime>
#include <map>
#include <string>

#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>

namespace {

using pinocchio::Convention;
using Vector = Eigen::Map<const Eigen::VectorXd>;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Peer {
  pinocchio::Model model;
  pinocchio::Data data;
  // Two variants of some algorithms exist; which is faster depends on the robot, so both are timed.
  explicit Peer(const pinocchio::Model &m) : model(m), data(m) {}
};

enum Quantity { TAU, H_WORLD, H_LOCAL, QDD_WORLD, QDD_LOCAL, CORIOLIS, D_TAU, D_QDD };

template <int quantity>
inline void compute(Peer &peer, const double *x) {
  const auto &model = peer.model;
  auto &data = peer.data;
  Vector q(x, model.nq), v(x + model.nq, model.nv), a(x + model.nq + model.nv, model.nv);
  if constexpr (quantity == TAU) pinocchio::rnea(model, data, q, v, a);
  if constexpr (quantity == H_WORLD) pinocchio::crba(model, data, q, Convention::WORLD);
  if constexpr (quantity == H_LOCAL) pinocchio::crba(model, data, q, Convention::LOCAL);
  if constexpr (quantity == QDD_WORLD) pinocchio::aba(model, data, q, v, a, Convention::WORLD);
  if constexpr (quantity == QDD_LOCAL) pinocchio::aba(model, data, q, v, a, Convention::LOCAL);
  if constexpr (quantity == CORIOLIS) pinocchio::computeCoriolisMatrix(model, data, q, v);
  if constexpr (quantity == D_TAU) pinocchio::computeRNEADerivatives(model, data, q, v, a);
  if constexpr (quantity == D_QDD) pinocchio::computeABADerivatives(model, data, q, v, a);
}

Matrix symmetric(const Eigen::MatrixXd &upper) {
  Matrix full = upper;
  full.triangularView<Eigen::StrictlyLower>() = upper.transpose().triangularView<Eigen::StrictlyLower>();
  return full;
}

template <typename M>
double *put(double *y, const M &matrix) {
  const Matrix rows = matrix;
  return std::copy(rows.data(), rows.data() + rows.size(), y);
}

template <int quantity>
void result(Peer &peer, const double *x, double *y) {
  compute<quantity>(peer, x);
  const auto &data = peer.data;
  if constexpr (quantity == TAU) put(y, data.tau);
  if constexpr (quantity == H_WORLD || quantity == H_LOCAL) put(y, symmetric(data.M));
  if constexpr (quantity == QDD_WORLD || quantity == QDD_LOCAL) put(y, data.ddq);
  if constexpr (quantity == CORIOLIS) put(y, data.C);
  if constexpr (quantity == D_TAU) put(put(put(y, data.dtau_dq), data.dtau_dv), symmetric(data.M));
  if constexpr (quantity == D_QDD) put(put(put(y, data.ddq_dq), data.ddq_dv), symmetric(data.Minv));
}

double seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

template <int quantity>
double loop(Peer &peer, const double *x, long width, long mask, long calls, unsigned long seed) {
  // Only the computation is timed: copying the result out would be charged to Pinocchio, whose users read it in place.
  unsigned long r = seed;
  const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
  for (long i = 0; i < calls; ++i) {
    r = r * 6364136223846793005ul + 1442695040888963407ul;
    compute<quantity>(peer, x + long((r >> 33) & mask) * width);
    asm volatile("" ::: "memory");
  }
  return seconds(CLOCK_THREAD_CPUTIME_ID) - start;
}

using Result = void (*)(Peer &, const double *, double *);
using Loop = double (*)(Peer &, const double *, long, long, long, unsigned long);
struct Entry { Result result; Loop loop; };
template <int quantity> Entry entry() { return {result<quantity>, loop<quantity>}; }

const std::map<std::string, Entry> &entries() {
  static const std::map<std::string, Entry> table{
      {"tau", entry<TAU>()},           {"H", entry<H_WORLD>()},     {"H local", entry<H_LOCAL>()},
      {"qdd", entry<QDD_WORLD>()},     {"qdd local", entry<QDD_LOCAL>()}, {"coriolis", entry<CORIOLIS>()},
      {"d(tau)", entry<D_TAU>()},      {"d(qdd)", entry<D_QDD>()}};
  return table;
}

}  // namespace

extern "C" {

void *peer_open(const char *archive) {
  try {
    pinocchio::Model model;
    model.loadFromText(archive);
    return new Peer(model);
  } catch (...) {
    return nullptr;
  }
}

void peer_close(void *peer) { delete static_cast<Peer *>(peer); }

int peer_has(const char *quantity) { return entries().count(quantity) ? 1 : 0; }

void peer_result(void *peer, const char *quantity, const double *x, double *y) {
  entries().at(quantity).result(*static_cast<Peer *>(peer), x, y);
}

/* Processor seconds of `calls` calls over the rows of x in random order; `mask` is the number of rows less one. */
double peer_loop(void *peer, const char *quantity, const double *x, long width, long mask, long calls, unsigned long seed) {
  return entries().at(quantity).loop(*static_cast<Peer *>(peer), x, width, mask, calls, seed);
}
}
