# SPDX-License-Identifier: MIT
# Package files, by which programs find libreprise.a and libreprise-tasks.a: pkg-config's, one for each
# library, and CMake's, one for all. They find the prefix from their own place, so it can be moved.
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH UP_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" UP_TO_PREFIX "${UP_TO_PREFIX}")
foreach(what INCLUDEDIR LIBDIR) # either may be absolute
  file(RELATIVE_PATH RELATIVE_${what} ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_${what}})
endforeach()

function(install_pkgconfig template name)
  configure_file(${REPRISE_CMAKE}/${template}.pc.in ${CMAKE_BINARY_DIR}/packaging/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/packaging/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

install_pkgconfig(reprise reprise)
foreach(mpi ${REPRISE_FLAVOURS})
  set(family ${${mpi}_FAMILY})
  set(version ${${mpi}_VERSION})
  install_pkgconfig(reprise-tasks reprise-tasks-${mpi})
endforeach()

set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/reprise)
configure_package_config_file(${REPRISE_CMAKE}/reprise-config.cmake.in ${CMAKE_BINARY_DIR}/packaging/reprise-config.cmake
  INSTALL_DESTINATION ${folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/packaging/reprise-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/packaging/reprise-config.cmake ${CMAKE_BINARY_DIR}/packaging/reprise-config-version.cmake
  DESTINATION ${folder})
install(EXPORT reprise-targets NAMESPACE reprise:: DESTINATION ${folder})
