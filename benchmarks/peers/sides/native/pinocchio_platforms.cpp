// A platform of six legs UPS in Pinocchio: the platform free and tied by six 3-D contacts, or carried by its first leg.
#include <ctime>
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

struct Platform {
    pin::Model model;
    std::unique_ptr<pin::Data> data;
    Constraints constraints;
    ConstraintDatas constraint_datas;
    pin::ProximalSettings settings;
};

// mass, height of the center of mass, three central moments
static pin::Inertia part(const double *p) {
    const Eigen::Matrix3d inertia = Eigen::Vector3d(p[2], p[3], p[4]).asDiagonal();
    return pin::Inertia(p[0], Eigen::Vector3d(0, 0, p[1]), inertia);
}

static pin::JointIndex leg(pin::Model &model, int k, const double *place, const double *lower, const double *upper) {
    const std::string name = std::to_string(k);
    const pin::SE3 base(Eigen::Matrix3d::Identity(), Eigen::Map<const Eigen::Vector3d>(place));
    const pin::SE3 none = pin::SE3::Identity();
    const pin::JointIndex a = model.addJoint(0, pin::JointModelRX(), base, "a" + name);
    const pin::JointIndex b = model.addJoint(a, pin::JointModelRY(), none, "b" + name);
    model.appendBodyToJoint(b, part(lower), none);
    const pin::JointIndex l = model.addJoint(b, pin::JointModelPZ(), none, "l" + name);
    model.appendBodyToJoint(l, part(upper), none);
    return l;
}

// Of this thread, as all sides are timed: others may be busy on the machine.
static double seconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

extern "C" {

// numbers: six base points, six platform points, lower part, upper part, platform (five numbers each), gravity
void *platform_open(const double *numbers, int carried, double mu, int iterations) {
    auto *self = new Platform;
    const double *base = numbers, *platform = numbers + 18, *lower = numbers + 36, *upper = lower + 5, *own = upper + 5;
    self->model.gravity.linear() = Eigen::Vector3d(0, 0, -own[5]);
    const pin::SE3 none = pin::SE3::Identity();
    auto at = [&](int k) { return pin::SE3(Eigen::Matrix3d::Identity(), Eigen::Map<const Eigen::Vector3d>(platform + 3 * k)); };
    pin::JointIndex body = 0, first = 0;
    if (carried) {
        first = leg(self->model, 0, base, lower, upper);
        body = self->model.addJoint(first, pin::JointModelSpherical(), none, "platform");
        self->model.appendBodyToJoint(body, part(own), at(0).inverse());
    } else {
        body = self->model.addJoint(0, pin::JointModelFreeFlyer(), none, "platform");
        self->model.appendBodyToJoint(body, part(own), none);
    }
    for (int k = carried ? 1 : 0; k < 6; ++k) {
        const pin::JointIndex tip = leg(self->model, k, base + 3 * k, lower, upper);
        const pin::SE3 place = carried ? at(0).inverse() * at(k) : at(k);
        self->constraints.emplace_back(pin::CONTACT_3D, self->model, tip, none, body, place, pin::LOCAL);
    }
    for (const auto &one : self->constraints) self->constraint_datas.emplace_back(one);
    self->data.reset(new pin::Data(self->model));
    pin::initConstraintDynamics(self->model, *self->data, self->constraints, self->constraint_datas);
    pin::computeJointMinimalOrdering(self->model, *self->data, self->constraints);
    self->settings = pin::ProximalSettings(1e-12, mu, iterations);
    return self;
}

static const Vector &accelerations(Platform *self, bool articulated, const double *row) {
    const int nq = self->model.nq, nv = self->model.nv;
    const Eigen::Map<const Vector> q(row, nq), v(row + nq, nv), tau(row + nq + nv, nv);
    if (articulated)
        return pin::lcaba(self->model, *self->data, q, v, tau, self->constraints, self->constraint_datas, self->settings);
    return pin::constraintDynamics(
        self->model, *self->data, q, v, tau, self->constraints, self->constraint_datas, self->settings);
}

void platform_result(void *handle, int articulated, const double *row, double *result) {
    auto *self = static_cast<Platform *>(handle);
    Eigen::Map<Vector>(result, self->model.nv) = accelerations(self, articulated, row);
}

double platform_seconds(void *handle, int articulated, const double *rows, long mask, long calls) {
    auto *self = static_cast<Platform *>(handle);
    const long width = self->model.nq + 2 * self->model.nv;
    const double begun = seconds();
    double sum = 0;
    for (long k = 0; k < calls; ++k) sum += accelerations(self, articulated, rows + width * (k & mask))[0];
    const double took = seconds() - begun;
    return sum == 12345.678 ? -1.0 : took;
}
}
