func.func @index(%a: index, %b: index, %n: i32) -> i1 {
  %0 = index.add %a, %b
  %1 = index.sub %0, %b
  %2 = index.mul %1, %a
  %3 = index.divs %a, %b
  %4 = index.ceildivu %a, %b
  %5 = index.rems %a, %b
  %6 = index.maxs %a, %b
  %7 = index.shl %a, %b
  %8 = index.xor %a, %b
  %9 = index.casts %n : i32 to index
  %10 = index.castu %a : index to i64
  %11 = index.cmp slt(%a, %9)
  %12 = index.sizeof
  %13 = index.constant 7
  %14 = index.bool.constant true
  return %11 : i1
}
// -----
func.func @loops(%m: memref<16x16xf32>, %n: index, %x: f32) -> f32 {
  %0 = affine.for %i = 0 to %n step 2 iter_args(%s = %x) -> (f32) {
    %1 = affine.load %m[%i + 1, symbol(%n)] : memref<16x16xf32>
    %2 = arith.addf %s, %1 : f32
    affine.store %2, %m[%i, 3] : memref<16x16xf32>
    affine.yield %2 : f32
  }
  affine.for %j = max affine_map<(d0)[s0] -> (d0, s0 - 1)>(%n)[%n] to 8 {
    %3 = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0)>(%j)[%n]
    %4 = affine.load %m[%3, %j mod 4] : memref<16x16xf32>
  }
  return %0 : f32
}
// -----
func.func @conditions(%n: index, %k: index, %m: memref<8x?xf32>) -> index {
  %c = affine.min affine_map<(d0)[s0] -> (d0, s0 floordiv 2, 64)>(%n)[%k]
  %d = affine.max affine_map<(d0, d1) -> (d0 + d1, 3)>(%n, %k)
  affine.for %i = 0 to 8 {
    affine.if affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 4)>(%i)[%n] {
      affine.prefetch %m[%i, %i + 1], read, locality<3>, data : memref<8x?xf32>
    } else {
      %v = affine.vector_load %m[%i, 0] : memref<8x?xf32>, vector<4xf32>
      affine.vector_store %v, %m[%i, 4] : memref<8x?xf32>, vector<4xf32>
    }
  }
  %e = affine.if affine_set<()[s0] : (s0 - 1 >= 0)>()[%n] -> index {
    affine.yield %c : index
  } else {
    affine.yield %d : index
  }
  return %e : index
}
// -----
func.func @sizes(%m: memref<?x4xf32>, %k: index) -> f32 {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %d = memref.dim %m, %c0 : memref<?x4xf32>
  %r = affine.parallel (%i, %j) = (0, %k) to (%d, min(8, %k + 4)) step (1, 2) reduce ("addf") -> f32 {
    %v = affine.load %m[%i, %j] : memref<?x4xf32>
    affine.yield %v : f32
  }
  affine.for %i = 0 to 4 {
    %t = memref.alloc(%k) : memref<?xf32>
    %s = memref.dim %t, %c0 : memref<?xf32>
    affine.for %j = 0 to %s {
      affine.store %z, %t[%j] : memref<?xf32>
    }
    %q:2 = affine.delinearize_index %i into (%k, %d) : index, index
  }
  return %r : f32
}
// -----
func.func @forall(%n: index, %m: memref<4x8xf32>, %x: f32) {
  scf.forall (%i, %j) in (%n, 8) {
    memref.store %x, %m[%i, %j] : memref<4x8xf32>
  }
  scf.forall (%i) = (1) to (%n) step (2) {
    %0 = arith.addi %i, %n : index
  }
  return
}
// -----
func.func @memory(%m: memref<4x?xf32>, %n: index, %r: memref<?xf32>, %s: memref<2xindex>, %w: memref<8xi32>) {
  %0 = memref.transpose %m (a, b) -> (b, a) : memref<4x?xf32> to memref<?x4xf32, affine_map<(d0, d1)[s0] -> (d1 * s0 + d0)>>
  %1 = memref.reshape %m(%s) : (memref<4x?xf32>, memref<2xindex>) -> memref<?x2xf32>
  %2 = memref.realloc %r(%n) : memref<?xf32> to memref<?xf32>
  %3 = memref.realloc %r : memref<?xf32> to memref<16xf32>
  memref.prefetch %m[%n, %n], write, locality<2>, instr : memref<4x?xf32>
  memref.assume_alignment %r, 16 : memref<?xf32>
  %4 = memref.alloca_scope -> (index) {
    %5 = memref.alloca() : memref<4xf32>
    memref.alloca_scope.return %n : index
  }
  %6 = memref.generic_atomic_rmw %w[%n] : memref<8xi32> {
  ^bb0(%old: i32):
    %7 = arith.addi %old, %old : i32
    memref.atomic_yield %7 : i32
  }
  return
}
