// -----// IR Dump Before LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @main() {
  %c0 = arith.constant 0 : index
  %c320 = arith.constant 320 : index
  %c224 = arith.constant 224 : index
  %c144 = arith.constant 144 : index
  %c64 = arith.constant 64 : index
  %c416 = arith.constant 416 : index
  %c9600 = arith.constant 9600 : index
  %c96 = arith.constant 96 : index
  %c6144 = arith.constant 6144 : index
  %c23120 = arith.constant 23120 : index
  %c25920 = arith.constant 25920 : index
  %c80 = arith.constant 80 : index
  %c20480 = arith.constant 20480 : index
  %c34848 = arith.constant 34848 : index
  %c36992 = arith.constant 36992 : index
  %c32 = arith.constant 32 : index
  %c32768 = arith.constant 32768 : index
  %c50700 = arith.constant 50700 : index
  %c20736 = arith.constant 20736 : index
  %c17280 = arith.constant 17280 : index
  %c14400 = arith.constant 14400 : index
  %c5760 = arith.constant 5760 : index
  %c2304 = arith.constant 2304 : index
  %c864 = arith.constant 864 : index
  %c47628 = arith.constant 47628 : index
  %c24 = arith.constant 24 : index
  %c20 = arith.constant 20 : index
  %c3 = arith.constant 3 : index
  %c63 = arith.constant 63 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c0_0 = arith.constant 0 : index
  %7:13 = stream.resource.pack slices({
    [0, 2] = %c50700,
    [2, 6] = %c32768,
    [4, 6] = %c36992,
    [6, 8] = %c32768,
    [7, 9] = %c34848,
    [9, 12] = %c20480,
    [10, 12] = %c25920,
    [12, 14] = %c20480,
    [13, 15] = %c23120,
    [15, 19] = %c6144,
    [16, 18] = %c9600,
    [18, 19] = %c6144
  }) : index
  %result_1, %result_timepoint_2 = stream.resource.alloca uninitialized : !stream.resource<transient>{%7#0} => !stream.timepoint
    stream.cmd.fill %c0_i8, %arg15[%7#1 for %c50700] : i8 -> !stream.resource<transient>{%7#0}
      rw %arg15[%7#1 for %c50700] : !stream.resource<transient>{%7#0}
      ro %arg15[%7#1 for %c50700] : !stream.resource<transient>{%7#0},
      wo %arg15[%7#2 for %c32768] : !stream.resource<transient>{%7#0}
        ro %arg15[%7#2 for %c32768] : !stream.resource<transient>{%7#0},
      stream.cmd.fill %c0_i8, %arg15[%7#3 for %c36992] : i8 -> !stream.resource<transient>{%7#0}
      ro %arg15[%7#2 for %c32768] : !stream.resource<transient>{%7#0},
      rw %arg15[%7#3 for %c36992] : !stream.resource<transient>{%7#0}
      ro %arg15[%7#3 for %c36992] : !stream.resource<transient>{%7#0},
      ro %arg15[%7#2 for %c32768] : !stream.resource<transient>{%7#0},
      wo %arg15[%7#4 for %c32768] : !stream.resource<transient>{%7#0}
        ro %arg15[%7#4 for %c32768] : !stream.resource<transient>{%7#0},
      stream.cmd.fill %c0_i8, %arg15[%7#5 for %c34848] : i8 -> !stream.resource<transient>{%7#0}
      ro %arg15[%7#4 for %c32768] : !stream.resource<transient>{%7#0},
      rw %arg15[%7#5 for %c34848] : !stream.resource<transient>{%7#0}
      ro %arg15[%7#5 for %c34848] : !stream.resource<transient>{%7#0},
      wo %arg15[%7#6 for %c20480] : !stream.resource<transient>{%7#0}
        ro %arg15[%7#6 for %c20480] : !stream.resource<transient>{%7#0},
      stream.cmd.fill %c0_i8, %arg15[%7#7 for %c25920] : i8 -> !stream.resource<transient>{%7#0}
      ro %arg15[%7#6 for %c20480] : !stream.resource<transient>{%7#0},
      rw %arg15[%7#7 for %c25920] : !stream.resource<transient>{%7#0}
      ro %arg15[%7#7 for %c25920] : !stream.resource<transient>{%7#0},
      ro %arg15[%7#6 for %c20480] : !stream.resource<transient>{%7#0},
      wo %arg15[%7#8 for %c20480] : !stream.resource<transient>{%7#0}
        ro %arg15[%7#8 for %c20480] : !stream.resource<transient>{%7#0},
      stream.cmd.fill %c0_i8, %arg15[%7#9 for %c23120] : i8 -> !stream.resource<transient>{%7#0}
      ro %arg15[%7#8 for %c20480] : !stream.resource<transient>{%7#0},
      rw %arg15[%7#9 for %c23120] : !stream.resource<transient>{%7#0}
      ro %arg15[%7#9 for %c23120] : !stream.resource<transient>{%7#0},
      wo %arg15[%7#10 for %c6144] : !stream.resource<transient>{%7#0}
        ro %arg15[%7#10 for %c6144] : !stream.resource<transient>{%7#0},
      stream.cmd.fill %c0_i8, %arg15[%7#11 for %c9600] : i8 -> !stream.resource<transient>{%7#0}
      ro %arg15[%7#10 for %c6144] : !stream.resource<transient>{%7#0},
      rw %arg15[%7#11 for %c9600] : !stream.resource<transient>{%7#0}
      ro %arg15[%7#11 for %c9600] : !stream.resource<transient>{%7#0},
      wo %arg15[%7#12 for %c6144] : !stream.resource<transient>{%7#0}
      ro %arg15[%7#12 for %c6144] : !stream.resource<transient>{%7#0},
      ro %arg15[%7#10 for %c6144] : !stream.resource<transient>{%7#0},
// -----// IR Dump After LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @main() {
  %c0 = arith.constant 0 : index
  %c320 = arith.constant 320 : index
  %c224 = arith.constant 224 : index
  %c144 = arith.constant 144 : index
  %c64 = arith.constant 64 : index
  %c416 = arith.constant 416 : index
  %c9600 = arith.constant 9600 : index
  %c96 = arith.constant 96 : index
  %c6144 = arith.constant 6144 : index
  %c23120 = arith.constant 23120 : index
  %c25920 = arith.constant 25920 : index
  %c80 = arith.constant 80 : index
  %c20480 = arith.constant 20480 : index
  %c34848 = arith.constant 34848 : index
  %c36992 = arith.constant 36992 : index
  %c32 = arith.constant 32 : index
  %c32768 = arith.constant 32768 : index
  %c50700 = arith.constant 50700 : index
  %c20736 = arith.constant 20736 : index
  %c17280 = arith.constant 17280 : index
  %c14400 = arith.constant 14400 : index
  %c5760 = arith.constant 5760 : index
  %c2304 = arith.constant 2304 : index
  %c864 = arith.constant 864 : index
  %c47628 = arith.constant 47628 : index
  %c24 = arith.constant 24 : index
  %c20 = arith.constant 20 : index
  %c3 = arith.constant 3 : index
  %c63 = arith.constant 63 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c0_0 = arith.constant 0 : index
  %c0_1 = arith.constant 0 : index
  %c50752 = arith.constant 50752 : index
  %c50752_2 = arith.constant 50752 : index
  %c83520 = arith.constant 83520 : index
  %c83520_3 = arith.constant 83520 : index
  %c34880 = arith.constant 34880 : index
  %c34880_4 = arith.constant 34880 : index
  %c55360 = arith.constant 55360 : index
  %c55360_5 = arith.constant 55360 : index
  %c23168 = arith.constant 23168 : index
  %c23168_6 = arith.constant 23168 : index
  %c9600_7 = arith.constant 9600 : index
  %c9600_8 = arith.constant 9600 : index
  %c116288 = arith.constant 116288 : index
  %c116288_9 = arith.constant 116288 : index
  %result_10, %result_timepoint_11 = stream.resource.alloca uninitialized : !stream.resource<transient>{%c116288_9} => !stream.timepoint
    stream.cmd.fill %c0_i8, %arg15[%c0_1 for %c50700] : i8 -> !stream.resource<transient>{%c116288_9}
      rw %arg15[%c0_1 for %c50700] : !stream.resource<transient>{%c116288_9}
      ro %arg15[%c0_1 for %c50700] : !stream.resource<transient>{%c116288_9},
      wo %arg15[%c50752_2 for %c32768] : !stream.resource<transient>{%c116288_9}
        ro %arg15[%c50752_2 for %c32768] : !stream.resource<transient>{%c116288_9},
      stream.cmd.fill %c0_i8, %arg15[%c0_1 for %c36992] : i8 -> !stream.resource<transient>{%c116288_9}
      ro %arg15[%c50752_2 for %c32768] : !stream.resource<transient>{%c116288_9},
      rw %arg15[%c0_1 for %c36992] : !stream.resource<transient>{%c116288_9}
      ro %arg15[%c0_1 for %c36992] : !stream.resource<transient>{%c116288_9},
      ro %arg15[%c50752_2 for %c32768] : !stream.resource<transient>{%c116288_9},
      wo %arg15[%c83520_3 for %c32768] : !stream.resource<transient>{%c116288_9}
        ro %arg15[%c83520_3 for %c32768] : !stream.resource<transient>{%c116288_9},
      stream.cmd.fill %c0_i8, %arg15[%c0_1 for %c34848] : i8 -> !stream.resource<transient>{%c116288_9}
      ro %arg15[%c83520_3 for %c32768] : !stream.resource<transient>{%c116288_9},
      rw %arg15[%c0_1 for %c34848] : !stream.resource<transient>{%c116288_9}
      ro %arg15[%c0_1 for %c34848] : !stream.resource<transient>{%c116288_9},
      wo %arg15[%c34880_4 for %c20480] : !stream.resource<transient>{%c116288_9}
        ro %arg15[%c34880_4 for %c20480] : !stream.resource<transient>{%c116288_9},
      stream.cmd.fill %c0_i8, %arg15[%c0_1 for %c25920] : i8 -> !stream.resource<transient>{%c116288_9}
      ro %arg15[%c34880_4 for %c20480] : !stream.resource<transient>{%c116288_9},
      rw %arg15[%c0_1 for %c25920] : !stream.resource<transient>{%c116288_9}
      ro %arg15[%c0_1 for %c25920] : !stream.resource<transient>{%c116288_9},
      ro %arg15[%c34880_4 for %c20480] : !stream.resource<transient>{%c116288_9},
      wo %arg15[%c55360_5 for %c20480] : !stream.resource<transient>{%c116288_9}
        ro %arg15[%c55360_5 for %c20480] : !stream.resource<transient>{%c116288_9},
      stream.cmd.fill %c0_i8, %arg15[%c0_1 for %c23120] : i8 -> !stream.resource<transient>{%c116288_9}
      ro %arg15[%c55360_5 for %c20480] : !stream.resource<transient>{%c116288_9},
      rw %arg15[%c0_1 for %c23120] : !stream.resource<transient>{%c116288_9}
      ro %arg15[%c0_1 for %c23120] : !stream.resource<transient>{%c116288_9},
      wo %arg15[%c23168_6 for %c6144] : !stream.resource<transient>{%c116288_9}
        ro %arg15[%c23168_6 for %c6144] : !stream.resource<transient>{%c116288_9},
      stream.cmd.fill %c0_i8, %arg15[%c0_1 for %c9600] : i8 -> !stream.resource<transient>{%c116288_9}
      ro %arg15[%c23168_6 for %c6144] : !stream.resource<transient>{%c116288_9},
      rw %arg15[%c0_1 for %c9600] : !stream.resource<transient>{%c116288_9}
      ro %arg15[%c0_1 for %c9600] : !stream.resource<transient>{%c116288_9},
      wo %arg15[%c9600_8 for %c6144] : !stream.resource<transient>{%c116288_9}
      ro %arg15[%c9600_8 for %c6144] : !stream.resource<transient>{%c116288_9},
      ro %arg15[%c23168_6 for %c6144] : !stream.resource<transient>{%c116288_9},
