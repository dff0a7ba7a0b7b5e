// Functions of z3 that load the library with the first call. The dynamic linker would load and initialise z3
// and the C++ runtime at the start of every process, which takes longer than the solution of a small instance.
//
// In the calling conventions of x86-64 and AArch64, arguments that are integers or pointers are passed in
// registers, and at least six of them fit. Therefore one C type suits all functions of the list. A function
// with more arguments, or with floating-point arguments or results, needs its own definition. If a function
// is missing here, the program is linked with the shared library as usual, and only the start is slower.

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// The exit code of internal errors.
enum { INTERNAL = 4 };

static void *loaded(const char *name) {
    void *library = dlopen(PLIMSOLL_Z3, RTLD_NOW | RTLD_LOCAL);
    void *function = library ? dlsym(library, name) : NULL;
    if (!function) {
        fprintf(stderr, "internal error: cannot load z3: %s\n", dlerror());
        _Exit(INTERNAL);
    }
    return function;
}

// Returns the function with this name. Threads that look it up at the same time find the same address.
static void *found(void **known, const char *name) {
    void *function = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!function) {
        function = loaded(name);
        __atomic_store_n(known, function, __ATOMIC_RELAXED);
    }
    return function;
}

typedef uintptr_t Word;
typedef Word (*Function)(Word, Word, Word, Word, Word, Word);

#define Z3(name)                                                                                            \
    Word Z3_##name(Word a, Word b, Word c, Word d, Word e, Word f) {                                        \
        static void *known;                                                                                 \
        return ((Function) found(&known, "Z3_" #name))(a, b, c, d, e, f);                                   \
    }

double Z3_stats_get_double_value(void *context, void *stats, unsigned index) {
    static void *known;
    double (*function)(void *, void *, unsigned) = found(&known, "Z3_stats_get_double_value");
    return function(context, stats, index);
}

Z3(ast_to_string)
Z3(dec_ref)
Z3(del_config)
Z3(del_context)
Z3(get_ast_id)
Z3(get_numeral_int64)
Z3(get_sort)
Z3(global_param_set)
Z3(inc_ref)
Z3(interrupt)
Z3(is_eq_sort)
Z3(mk_add)
Z3(mk_and)
Z3(mk_bool_sort)
Z3(mk_config)
Z3(mk_const)
Z3(mk_context_rc)
Z3(mk_eq)
Z3(mk_ge)
Z3(mk_implies)
Z3(mk_int64)
Z3(mk_int_sort)
Z3(mk_int_symbol)
Z3(mk_le)
Z3(mk_mul)
Z3(mk_not)
Z3(mk_or)
Z3(mk_params)
Z3(mk_pble)
Z3(mk_solver)
Z3(mk_solver_for_logic)
Z3(mk_string_symbol)
Z3(mk_sub)
Z3(model_dec_ref)
Z3(model_eval)
Z3(model_inc_ref)
Z3(params_dec_ref)
Z3(params_inc_ref)
Z3(params_set_uint)
Z3(set_error_handler)
Z3(solver_assert)
Z3(solver_check)
Z3(solver_dec_ref)
Z3(solver_get_model)
Z3(solver_get_statistics)
Z3(solver_inc_ref)
Z3(solver_set_params)
Z3(sort_to_ast)
Z3(sort_to_string)
Z3(stats_dec_ref)
Z3(stats_get_key)
Z3(stats_get_uint_value)
Z3(stats_inc_ref)
Z3(stats_is_uint)
Z3(stats_size)
