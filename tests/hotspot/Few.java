// SPDX-License-Identifier: BSD-2-Clause
// Three methods that call each other, compiled by both compilers, inlined into each other.
public class Few {
  static int leaf(int x){ int r=x; for(int i=0;i<20;i++) r=r*31+i; return r; }
  static int middle(int x){ return leaf(x)+leaf(x+1); }
  static int outer(int x, String[] names, long[][] rows){ return middle(x)^middle(x+2); }
  public static void main(String[] a) throws Exception {
    long s=0; String[] n = new String[0]; long[][] r = new long[0][];
    for(int i=0;i<300000;i++) s+=outer(i, n, r);
    System.out.println("ready "+s); Thread.sleep(1000000000);
  }
}
