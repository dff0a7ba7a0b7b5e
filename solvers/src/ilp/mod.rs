//! Offset assignment and pools as integer linear programs, solved by HiGHS through `good_lp`.
