// A planar loop of N bars in Pinocchio: two chains from the ground, closed by a 3-D contact of their ends.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/constraints.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>
#include <pinocchio/algorithm/proximal.hpp>

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;
using Constraints = std::vector<pin::RigidConstraintModel, Eigen::aligned_allocator<pin::RigidConstraintModel>>;
using ConstraintDatas = std::vector<pin::RigidConstraintData, Eigen::aligned_allocator<pin::RigidConstraintData>>;

struct Ring {
    pin::Model model;
    std::unique_ptr<pin::Data> data;
    Constraints constraints;
    ConstraintDatas constraint_datas;
    pin::ProximalSettings settings;
    int size;
};

static pin::JointIndex chain(pin::Model &model, int count, const pin::SE3 &first) {
    pin::JointIndex parent = 0;
    const pin::SE3 along(Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 0, 0));
    const Eigen::Matrix3d inertia = Eigen::Vector3d(0.0, 0.0, 1.0 / 12).asDiagonal();
    for (int k = 0; k < count; ++k) {
        parent = model.addJoint(parent, pin::JointModelRZ(), k ? along : first, "j" + std::to_string(model.njoints));
        model.appendBodyToJoint(parent, pin::Inertia(1.0, Eigen::Vector3d(0.5, 0, 0), inertia), pin::SE3::Identity());
    }
    return parent;
}

extern "C" {

void *ring_open(int left, int right, double mu, int iterations) {
    auto *ring = new Ring;
    ring->model.gravity.linear() = Eigen::Vector3d(0, -9.81, 0);
    const pin::SE3 along(Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 0, 0));
    const pin::JointIndex a = chain(ring->model, left, pin::SE3::Identity());
    const pin::JointIndex b = chain(ring->model, right, along);
    ring->constraints.emplace_back(pin::CONTACT_3D, ring->model, a, along, b, along, pin::LOCAL);
    ring->constraint_datas.emplace_back(ring->constraints[0]);
    ring->data.reset(new pin::Data(ring->model));
    pin::initConstraintDynamics(ring->model, *ring->data, ring->constraints, ring->constraint_datas);
    pin::computeJointMinimalOrdering(ring->model, *ring->data, ring->constraints);
    ring->settings = pin::ProximalSettings(1e-12, mu, iterations);
    ring->size = ring->model.nv;
    return ring;
}

static const Vector &accelerations(Ring *ring, bool articulated, const double *row) {
    const Eigen::Map<const Vector> q(row, ring->size), v(row + ring->size, ring->size), tau(row + 2 * ring->size, ring->size);
    if (articulated)
        return pin::lcaba(ring->model, *ring->data, q, v, tau, ring->constraints, ring->constraint_datas, ring->settings);
    return pin::constraintDynamics(
        ring->model, *ring->data, q, v, tau, ring->constraints, ring->constraint_datas, ring->settings);
}

void ring_result(void *handle, int articulated, const double *row, double *result) {
    auto *ring = static_cast<Ring *>(handle);
    Eigen::Map<Vector>(result, ring->size) = accelerations(ring, articulated, row);
}

double ring_seconds(void *handle, int articulated, const double *rows, long mask, long calls) {
    auto *ring = static_cast<Ring *>(handle);
    const auto begun = std::chrono::steady_clock::now();
    double sum = 0;
    for (long k = 0; k < calls; ++k) sum += accelerations(ring, articulated, rows + 3 * ring->size * (k & mask))[0];
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    return sum == 12345.678 ? -1.0 : took.count();
}
}
