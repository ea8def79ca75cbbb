#include "bridge/fmi/cvode.hpp"

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace isochron::fmi {
namespace {

class Cvode final : public Solver {
 public:
  Cvode(Equations& equations, double tolerance) : equations_(equations), tolerance_(tolerance) {
    SUNContext_Create(nullptr, &context_);
    const auto n = static_cast<sunindextype>(equations.state_count());
    x_ = N_VNew_Serial(n, context_);
    absolute_ = N_VNew_Serial(n, context_);
    matrix_ = SUNDenseMatrix(n, n, context_);
    linear_ = SUNLinSol_Dense(x_, matrix_, context_);
    memory_ = CVodeCreate(CV_BDF, context_);
    if (memory_ == nullptr || linear_ == nullptr) throw std::runtime_error("the solver could not be made");
  }
  ~Cvode() override {
    CVodeFree(&memory_);
    SUNLinSolFree(linear_);
    SUNMatDestroy(matrix_);
    N_VDestroy(absolute_);
    N_VDestroy(x_);
    SUNContext_Free(&context_);
  }

  void restart(double t, std::span<const double> x) override {
    time_ = t;
    states_.assign(x.begin(), x.end());
    std::ranges::copy(x, N_VGetArrayPointer(x_));
    if (made_) {
      demand(CVodeReInit(memory_, t, x_));
      return set_tolerances();
    }
    made_ = true;
    demand(CVodeInit(memory_, &Cvode::slope, t, x_));
    demand(CVodeSetUserData(memory_, this));
    set_tolerances();
    demand(CVodeSetLinearSolver(memory_, linear_, matrix_));
    if (equations_.has_jacobian()) demand(CVodeSetJacFn(memory_, &Cvode::jacobian));
    demand(CVodeSetErrHandlerFn(
        memory_, [](int, const char*, const char*, char*, void*) {}, nullptr));
    const auto indicators = static_cast<int>(equations_.indicator_count());
    if (indicators > 0) demand(CVodeRootInit(memory_, indicators, &Cvode::roots));
    if (indicators > 0) demand(CVodeSetNoInactiveRootWarn(memory_));
  }

  bool step(double to) override {
    demand(CVodeSetStopTime(memory_, to));
    double reached = time_;
    const int code = CVode(memory_, to, x_, &reached, CV_ONE_STEP);
    demand(code);
    time_ = code == CV_TSTOP_RETURN ? to : reached;
    const double* x = N_VGetArrayPointer(x_);
    states_.assign(x, x + states_.size());
    return code == CV_ROOT_RETURN;
  }

 private:
  /// As the standard recommends. Without the nominal values, states of 1e-5 would be lost in an absolute tolerance.
  void set_tolerances() {
    const std::span<double> absolute(N_VGetArrayPointer(absolute_), states_.size());
    equations_.nominals(absolute);
    for (double& value : absolute) {
      const double size = std::abs(value);
      value = 0.01 * tolerance_ * (std::isfinite(size) && size > 0 ? size : 1);
    }
    demand(CVodeSVtolerances(memory_, tolerance_, absolute_));
  }

  /// Nothing is thrown into C: what the equations throw waits here.
  template <class F>
  static int guarded(void* self, F&& what) {
    Cvode& solver = *static_cast<Cvode*>(self);
    try {
      what(solver.equations_);
      return 0;
    } catch (...) {
      solver.thrown_ = std::current_exception();
      return -1;
    }
  }
  static int slope(realtype t, N_Vector x, N_Vector dx, void* self) {
    return guarded(self, [&](Equations& e) { e.derivatives(t, N_VGetArrayPointer(x), N_VGetArrayPointer(dx)); });
  }
  static int jacobian(realtype t, N_Vector x, N_Vector, SUNMatrix to, void* self, N_Vector, N_Vector, N_Vector) {
    std::vector<double*>& columns = static_cast<Cvode*>(self)->columns_;
    columns.resize(static_cast<std::size_t>(SUNDenseMatrix_Columns(to)));
    for (std::size_t j = 0; j < columns.size(); ++j)
      columns[j] = SUNDenseMatrix_Column(to, static_cast<sunindextype>(j));
    return guarded(self, [&](Equations& e) { e.jacobian(t, N_VGetArrayPointer(x), columns); });
  }
  static int roots(realtype t, N_Vector x, realtype* z, void* self) {
    return guarded(self, [&](Equations& e) { e.indicators(t, N_VGetArrayPointer(x), z); });
  }
  void demand(int code) {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    if (code >= 0) return;
    char* name = CVodeGetReturnFlagName(code);
    const std::string word = name;
    std::free(name);
    throw std::runtime_error("the solver cannot go on at " + std::to_string(time_) + " s: " + word);
  }

  Equations& equations_;
  double tolerance_;
  SUNContext context_ = nullptr;
  N_Vector x_ = nullptr, absolute_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver linear_ = nullptr;
  void* memory_ = nullptr;
  bool made_ = false;
  std::vector<double*> columns_;
  std::exception_ptr thrown_;
};

}  // namespace

std::unique_ptr<Solver> make_cvode(Equations& equations, double tolerance) {
  return std::make_unique<Cvode>(equations, tolerance);
}

}  // namespace isochron::fmi
