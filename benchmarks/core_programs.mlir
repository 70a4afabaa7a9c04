func.func @integers(%a: i32, %b: i32, %i: index, %v: vector<4xi32>) -> i32 {
  %0 = arith.addi %a, %b overflow<nsw> : i32
  %1 = arith.subi %0, %b : i32
  %2 = arith.muli %v, %v : vector<4xi32>
  %3 = arith.divsi %a, %b : i32
  %4 = arith.divui %a, %b : i32
  %5 = arith.ceildivsi %i, %i : index
  %6 = arith.ceildivui %a, %b : i32
  %7 = arith.floordivsi %a, %b : i32
  %8 = arith.remsi %a, %b : i32
  %9 = arith.remui %a, %b : i32
  return %1 : i32
}
// -----
func.func @bits(%a: i64, %b: i64, %c: i1) -> i1 {
  %0 = arith.andi %a, %b : i64
  %1 = arith.ori %a, %b : i64
  %2 = arith.xori %c, %c : i1
  %3 = arith.shli %a, %b : i64
  %4 = arith.shrsi %a, %b : i64
  %5 = arith.shrui %a, %b : i64
  %6 = arith.minsi %a, %b : i64
  %7 = arith.maxsi %a, %b : i64
  %8 = arith.minui %a, %b : i64
  %9 = arith.maxui %a, %b : i64
  return %2 : i1
}
// -----
func.func @wide(%a: i32, %b: i32, %v: vector<4xi32>) -> (i32, i1) {
  %0, %1 = arith.addui_extended %a, %b : i32, i1
  %2, %3 = arith.mulsi_extended %a, %b : i32
  %4, %5 = arith.mului_extended %v, %v : vector<4xi32>
  return %0, %1 : i32, i1
}
// -----
func.func @floats(%a: f32, %b: f32, %v: vector<4xf32>) -> f32 {
  %0 = arith.addf %a, %b fastmath<nnan> : f32
  %1 = arith.subf %a, %b : f32
  %2 = arith.mulf %v, %v : vector<4xf32>
  %3 = arith.divf %a, %b : f32
  %4 = arith.remf %a, %b : f32
  %5 = arith.maximumf %a, %b : f32
  %6 = arith.minnumf %a, %b : f32
  %7 = arith.negf %a : f32
  %8 = math.exp %a : f32
  %9 = math.fma %a, %b, %8 fastmath<fast> : f32
  %10 = math.powf %a, %b : f32
  return %9 : f32
}
// -----
func.func @functions(%a: f16, %n: i32, %i: index) -> i32 {
  %0 = math.absf %a : f16
  %1 = math.sqrt %0 : f16
  %2 = math.atan2 %0, %1 : f16
  %3 = math.absi %n : i32
  %4 = math.ctlz %3 : i32
  %5 = math.ctpop %i : index
  %6 = math.ipowi %n, %4 : i32
  %7 = math.fpowi %a, %n : f16, i32
  %8 = math.copysign %a, %7 : f16
  return %6 : i32
}
// -----
func.func @compare(%a: i32, %b: i32, %x: f32, %y: f32, %v: vector<4xi32>) -> i1 {
  %0 = arith.cmpi slt, %a, %b : i32
  %1 = arith.cmpf oeq, %x, %y : f32
  %2 = arith.cmpi ugt, %v, %v : vector<4xi32>
  %3 = arith.select %0, %a, %b : i32
  %4 = arith.select %2, %v, %v : vector<4xi1>, vector<4xi32>
  %5 = arith.select %1, %v, %v : vector<4xi32>
  return %1 : i1
}
// -----
func.func @casts(%a: i32, %x: f32, %i: index, %v: vector<4xi32>) -> i64 {
  %0 = arith.extsi %a : i32 to i64
  %1 = arith.extui %a : i32 to i64
  %2 = arith.trunci %0 : i64 to i8
  %3 = arith.extf %x : f32 to f64
  %4 = arith.truncf %3 : f64 to f16
  %5 = arith.sitofp %a : i32 to f32
  %6 = arith.uitofp %v : vector<4xi32> to vector<4xf32>
  %7 = arith.fptosi %x : f32 to i16
  %8 = arith.fptoui %x : f32 to i64
  %9 = arith.index_cast %i : index to i32
  %10 = arith.index_castui %a : i32 to index
  %11 = arith.bitcast %x : f32 to i32
  %12 = builtin.unrealized_conversion_cast %a : i32 to ui32
  return %0 : i64
}
// -----
func.func @constants() -> f32 {
  %0 = arith.constant 5 : i32
  %1 = arith.constant -1 : index
  %2 = arith.constant 2.5 : f32
  %3 = arith.constant true
  %4 = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %5 = arith.constant 0x7F800000 : f32
  return %2 : f32
}
// -----
func.func @loop(%n: index, %x: i32, %y: f32) -> (i32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (i32, f32) {
    %1 = arith.addi %p, %x : i32
    %2 = arith.addf %q, %y : f32
    scf.yield %1, %2 : i32, f32
  }
  scf.for %j = %c0 to %n step %c1 {
    %3 = arith.addi %j, %n : index
  }
  return %0#0, %0#1 : i32, f32
}
// -----
func.func @counted(%a: i32, %b: i32) {
  scf.for %i = %a to %b step %a : i32 {
    %0 = arith.addi %i, %a : i32
  }
  return
}
// -----
func.func @branches(%c: i1, %a: i32, %b: i32) -> i32 {
  %0 = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    scf.yield %b : i32
  }
  scf.if %c {
    %1 = arith.addi %a, %b : i32
  }
  %2:2 = scf.if %c -> (i32, i1) {
    scf.yield %a, %c : i32, i1
  } else {
    scf.yield %b, %c : i32, i1
  }
  return %2#0 : i32
}
// -----
func.func @repeat(%a: i32, %b: f32) -> f32 {
  %0 = scf.while (%x = %a) : (i32) -> f32 {
    %1 = arith.cmpi slt, %x, %a : i32
    scf.condition(%1) %b : f32
  } do {
  ^bb0(%y: f32):
    %2 = arith.fptosi %y : f32 to i32
    scf.yield %2 : i32
  }
  return %0 : f32
}
// -----
func.func @region(%a: i32, %c: i1, %i: index) -> i32 {
  %0 = scf.execute_region -> i32 {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    scf.yield %a : i32
  ^bb2:
    %2 = arith.addi %a, %a : i32
    scf.yield %2 : i32
  }
  %1 = scf.index_switch %i -> i32
  case 1 {
    scf.yield %a : i32
  }
  case 4 {
    scf.yield %0 : i32
  }
  default {
    scf.yield %a : i32
  }
  return %1 : i32
}
// -----
func.func @parallel(%n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) init (%x) -> f32 {
    %1 = arith.addf %x, %x : f32
    scf.reduce(%1 : f32) {
    ^bb0(%p: f32, %q: f32):
      %2 = arith.addf %p, %q : f32
      scf.reduce.return %2 : f32
    }
  }
  scf.parallel (%k) = (%c0) to (%n) step (%c1) {
    %3 = arith.addi %k, %k : index
    scf.reduce
  }
  return %0 : f32
}
// -----
func.func @blocks(%c: i1, %a: i32, %b: i64) -> i32 {
  %0 = arith.addi %a, %a : i32
  cf.cond_br %c, ^one(%a : i32), ^two(%0, %b : i32, i64)
^one(%x: i32):
  %1 = arith.addi %x, %0 : i32
  cf.br ^two(%1, %b : i32, i64)
^two(%y: i32, %z: i64):
  %2 = arith.addi %y, %0 : i32
  return %2 : i32
}
// -----
func.func @around(%a: i32, %n: i32) -> i32 {
  cf.br ^head(%a : i32)
^head(%i: i32):
  %0 = arith.cmpi slt, %i, %n : i32
  cf.cond_br %0, ^body, ^done
^body:
  %1 = arith.addi %i, %a : i32
  cf.br ^head(%1 : i32)
^done:
  return %i : i32
}
// -----
func.func @choose(%f: i32, %a: i32, %b: f32) -> i32 {
  cf.switch %f : i32, [
    default: ^one(%a : i32),
    3: ^two(%a, %b : i32, f32),
    7: ^one(%f : i32)
  ]
^one(%x: i32):
  return %x : i32
^two(%y: i32, %z: f32):
  return %y : i32
}
// -----
func.func @checked(%c: i1) {
  cf.assert %c, "wrong"
  return
}
// -----
func.func @memory(%n: index, %x: f32) -> f32 {
  %0 = memref.alloc() : memref<4x4xf32>
  %1 = memref.alloc(%n) : memref<?xf32>
  %2 = memref.alloca() {alignment = 32 : i64} : memref<4xf32>
  memref.store %x, %0[%n, %n] : memref<4x4xf32>
  %3 = memref.load %1[%n] : memref<?xf32>
  %4 = memref.dim %1, %n : memref<?xf32>
  memref.dealloc %1 : memref<?xf32>
  return %3 : f32
}
// -----
func.func @views(%m: memref<16x16xf32>, %n: index, %d: memref<?xf32>) {
  %0 = memref.subview %m[0, 4] [8, 8] [1, 1] : memref<16x16xf32> to memref<8x8xf32, strided<[16, 1], offset: 4>>
  %1 = memref.subview %m[%n, 0] [1, 8] [1, 2] : memref<16x16xf32> to memref<8xf32, strided<[2], offset: ?>>
  %2 = memref.reinterpret_cast %d to offset: [0], sizes: [4, %n], strides: [8, 1] : memref<?xf32> to memref<4x?xf32, strided<[8, 1]>>
  %3 = memref.cast %d : memref<?xf32> to memref<4xf32>
  %4 = memref.cast %3 : memref<4xf32> to memref<?xf32, strided<[?], offset: ?>>
  %5 = memref.memory_space_cast %d : memref<?xf32> to memref<?xf32, 1>
  %6 = memref.cast %d : memref<?xf32> to memref<*xf32>
  return
}
// -----
func.func private @callee(i32, f32) -> (i32, f32)
func.func @call(%a: i32, %b: f32) -> (i32, f32) {
  %0:2 = call @callee(%a, %b) : (i32, f32) -> (i32, f32)
  %f = func.constant @callee : (i32, f32) -> (i32, f32)
  %1:2 = func.call_indirect %f(%a, %b) : (i32, f32) -> (i32, f32)
  return %1#0, %0#1 : i32, f32
}
// -----
func.func @nested(%c: i1, %n: index, %a: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %0 = scf.for %i = %c0 to %n step %n iter_args(%x = %a) -> (i32) {
    %1 = scf.if %c -> (i32) {
      %2 = arith.addi %x, %a : i32
      scf.yield %2 : i32
    } else {
      scf.yield %x : i32
    }
    scf.yield %1 : i32
  }
  return %0 : i32
}
