// Writes C for one robot: Pinocchio's algorithms run on CasADi's symbols, CasADi generates the code.
//
//   casadi_writer MODEL.txt OUT.c QUANTITY...
//
// Every function has the name of its place in the list (f0, f1, ...) and takes q, v and a third vector (a or tau).
// Operation counts go to standard output, one line each: name, multiplications, additions, divisions and functions.
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <pinocchio/autodiff/casadi.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>

using casadi::SX;
using Model = pinocchio::ModelTpl<SX>;
using Data = pinocchio::DataTpl<SX>;
using Vector = Eigen::Matrix<SX, Eigen::Dynamic, 1>;
using Matrix = Eigen::Matrix<SX, Eigen::Dynamic, Eigen::Dynamic>;

template <typename M>
SX dense(const M &matrix) {
  SX out = SX::zeros(matrix.rows(), matrix.cols());
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) out(i, j) = matrix(i, j);
  // CasADi stores columns, the bench rows.
  return out.T();
}

Matrix symmetric(const Matrix &upper) {
  Matrix full = upper;
  for (Eigen::Index i = 0; i < full.rows(); ++i)
    for (Eigen::Index j = 0; j < i; ++j) full(i, j) = full(j, i);
  return full;
}

Vector vector_of(const SX &symbols) {
  Vector out(symbols.size1());
  for (Eigen::Index i = 0; i < out.size(); ++i) out(i) = symbols(i);
  return out;
}

SX expression(const std::string &what, const Model &model, const SX &q, const SX &v, const SX &a) {
  using pinocchio::Convention;
  Data data(model);
  const Vector qq = vector_of(q), vv = vector_of(v), aa = vector_of(a);
  if (what == "tau") return dense(pinocchio::rnea(model, data, qq, vv, aa)).T();
  if (what == "H") return dense(symmetric(pinocchio::crba(model, data, qq, Convention::LOCAL)));
  if (what == "H world") return dense(symmetric(pinocchio::crba(model, data, qq, Convention::WORLD)));
  if (what == "qdd") return dense(pinocchio::aba(model, data, qq, vv, aa, Convention::LOCAL)).T();
  if (what == "qdd world") return dense(pinocchio::aba(model, data, qq, vv, aa, Convention::WORLD)).T();
  if (what == "coriolis") return dense(pinocchio::computeCoriolisMatrix(model, data, qq, vv));
  if (what == "d(tau)") {
    pinocchio::computeRNEADerivatives(model, data, qq, vv, aa);
    return SX::horzcat({dense(data.dtau_dq), dense(data.dtau_dv), dense(symmetric(data.M))});
  }
  if (what == "d(qdd)") {
    pinocchio::computeABADerivatives(model, data, qq, vv, aa);
    return SX::horzcat({dense(data.ddq_dq), dense(data.ddq_dv), dense(symmetric(data.Minv))});
  }
  throw std::invalid_argument("unknown quantity " + what);
}

void print_counts(const std::string &what, const casadi::Function &function) {
  std::map<std::string, long> counts;
  static const std::set<int> mul{casadi::OP_MUL, casadi::OP_SQ, casadi::OP_TWICE};
  static const std::set<int> add{casadi::OP_ADD, casadi::OP_SUB};
  static const std::set<int> free_of_charge{casadi::OP_INPUT, casadi::OP_OUTPUT, casadi::OP_CONST, casadi::OP_NEG, casadi::OP_ASSIGN};
  for (casadi_int k = 0; k < function.n_instructions(); ++k) {
    const int op = static_cast<int>(function.instruction_id(k));
    if (mul.count(op)) ++counts["mul"];
    else if (add.count(op)) ++counts["add"];
    else if (!free_of_charge.count(op)) ++counts["other"];
  }
  std::cout << what << '\t' << counts["mul"] << '\t' << counts["add"] << '\t' << counts["other"] << std::endl;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  pinocchio::Model numbers;
  numbers.loadFromText(argv[1]);
  const Model model = numbers.cast<SX>();
  const SX q = SX::sym("q", model.nq), v = SX::sym("v", model.nv), a = SX::sym("a", model.nv);
  casadi::CodeGenerator generator("peer.c", casadi::Dict{{"with_header", false}});
  for (int i = 3; i < argc; ++i) {
    const casadi::Function function("f" + std::to_string(i - 3), {q, v, a}, {expression(argv[i], model, q, v, a)});
    print_counts(argv[i], function);
    generator.add(function);
  }
  std::ofstream(argv[2]) << generator.dump();
}
