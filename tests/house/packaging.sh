# SPDX-License-Identifier: MIT
# What packagers' files say is so: the version, options and targets that they name, folders that they install; each MPI has a package of its own.
cd "$(dirname "$0")/../.." || exit 1
bad=0
say() { echo "$*"; bad=1; }
version=$(sed -n 's/^#define REPRISE_VERSION "\(.*\)"$/\1/p' include/reprise.h)
grep -q "^project(reprise VERSION $version " CMakeLists.txt || say "CMakeLists.txt: not version $version"
head -n 1 debian/changelog | grep -q "^reprise ($version-" || say "debian/changelog: not version $version"
grep -q "^## $version" CHANGELOG.md || say "CHANGELOG.md: no version $version"
for option in $(grep -ohE -- '-DREPRISE_[A-Z]+' debian/rules | sed 's/^-D//') $(grep -oE '"REPRISE_[A-Z]+"' packaging/spack/package.py | tr -d '"'); do
    grep -qE "(option|set)\($option " CMakeLists.txt cmake/*.cmake src/cc/CMakeLists.txt || say "$option: the build has no such option"
done
grep -q 'add_custom_target(unit_tests' tests/unit.cmake || say "packages build the target unit_tests"
for family in $(sed -n 's/^  foreach(family \(.*\))$/\1/p' cmake/mpis.cmake); do
    grep -q "^Package: libreprise-$family$" debian/control && [ -s "debian/libreprise-$family.install" ] || say "debian: no package for $family"
done
[ "$(stat -c %a debian/rules)" = 755 ] && [ -x debian/tests/record-and-replay ] || say "debian/rules and tests are not executable"
sh -n debian/tests/record-and-replay || bad=1
# Spack's file without Spack.
python3 -B - "$version" <<'END' || bad=1
import ast, sys

text = open("packaging/spack/package.py").read()
calls = [c for c in ast.walk(ast.parse(text)) if isinstance(c, ast.Call) and isinstance(c.func, ast.Name)]
first = lambda name: [c.args[0].value for c in calls if c.func.id == name]
problems = []
if first("version") != [sys.argv[1]]:
    problems.append("version is not " + sys.argv[1])
if f"reprise-{sys.argv[1]}.tar.xz" not in text:
    problems.append("url has another version")
needed = [d.split("@")[0] for d in first("depends_on")]
problems += ["depends_on lacks " + d for d in "c cmake pkgconfig python mpi elfutils libunwind xxhash zlib-api zstd".split() if d not in needed]
conditions = [k.value.value for c in calls for k in c.keywords if k.arg == "when"]
problems += ["no variant " + c for c in conditions if c.strip("+~") not in first("variant")]
problems += [f"line {n} has more than 99 columns" for n, line in enumerate(text.splitlines(), 1) if len(line) > 99]
for problem in problems:
    print("packaging/spack/package.py:", problem)
sys.exit(bool(problems))
END
[ "$bad" -eq 0 ] || exit 1
echo "version $version everywhere"
