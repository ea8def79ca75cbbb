#pragma once
// Nodes written against the C interface (isochron_node.h), run like those in C++.
//
// Fails: make_c_node() throws InputError when the node cannot be made; a node that calls fail() while it runs throws
//        from the step in which it did.

#include <memory>

#include "core/isochron_node.h"
#include "flow/parameters.hpp"
#include "flow/user_node.hpp"

namespace isochron::flow {

std::unique_ptr<UserNode> make_c_node(const isochron_node_type& type, const Parameters& parameters);

}  // namespace isochron::flow
