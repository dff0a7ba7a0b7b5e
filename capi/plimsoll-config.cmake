# Defines the targets plimsoll::plimsoll (shared) and plimsoll::plimsoll_static.
get_filename_component(_plimsoll_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET plimsoll::plimsoll)
  add_library(plimsoll::plimsoll SHARED IMPORTED)
  set_target_properties(plimsoll::plimsoll PROPERTIES
    IMPORTED_LOCATION "${_plimsoll_prefix}/lib/libplimsoll.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_plimsoll_prefix}/include")
  add_library(plimsoll::plimsoll_static STATIC IMPORTED)
  set_target_properties(plimsoll::plimsoll_static PROPERTIES
    IMPORTED_LOCATION "${_plimsoll_prefix}/lib/libplimsoll.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_plimsoll_prefix}/include"
    INTERFACE_LINK_LIBRARIES "gcc_s;util;rt;pthread;m;dl")
endif()
unset(_plimsoll_prefix)
