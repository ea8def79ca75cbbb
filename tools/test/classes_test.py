"""Classes with too many private functions are found, and nothing else is taken for one."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import classes  # noqa: E402


def with_functions(count: int, section: str = "private") -> str:
    functions = "".join(f"  [[nodiscard]] const std::string& f{i}(int a = 0) const;\n" for i in range(count))
    return f"namespace x {{\nclass Large final : private Base {{\n {section}:\n{functions}}};\n}}\n"


class Classes(unittest.TestCase):
    def test_one_too_many_is_found_with_its_line(self):
        self.assertEqual(classes.too_large(with_functions(31)), [(2, "Large", 31)])
        self.assertEqual(classes.too_large(with_functions(30)), [])
        self.assertEqual(classes.too_large(with_functions(40, "public")), [])

    def test_bodies_fields_and_comments_are_no_functions(self):
        body = " private:\n" + 40 * "  int a_ = f(3);\n  std::function<void(int)> g_;\n  // h();\n  using T = int();\n"
        body += 30 * "  void f() { if (x) { g(\"(\"); h(); } }\n"
        self.assertEqual(classes.too_large("class C {\n" + body + "};\n"), [])
        self.assertEqual(classes.too_large("class C {\n" + body + "  void g() override {}\n};\n"), [(1, "C", 31)])


if __name__ == "__main__":
    unittest.main()
